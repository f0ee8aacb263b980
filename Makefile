# What can be made here. Every target does its own set-up; the first run takes a few minutes more for that.
.PHONY: quick test it lint calibrate clean

quick:      ## The tests that need neither Hadoop nor Java, and take no seconds each: about a minute.
	@setup/check quick

test:       ## Lint, the jobs' tests, all quick tests and most on a real Hadoop. About 18 minutes on 2 cores.
	@setup/check test

it:         ## All tests on a real embedded Hadoop, every workload among them. Well over an hour: those of HBase alone take 40 minutes.
	@setup/check it

lint:       ## Style, types and layers. About half a minute.
	@setup/check lint

calibrate:  ## Measures Assay itself: statistics of known effects; cluster start, stop and a minimal job; emulated drives against their profiles, TestDFSIO against fio and what probes cost (root). About 70 minutes.
	@setup/check calibrate

clean:      ## Removes what set-up made; datasets in the cache stay.
	rm -rf .assay jobs/target jobs/*/target direct/target
