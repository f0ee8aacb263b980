"""Proves that an experiment takes over no codec that the bundled Hadoop lacks, and Hadoop's own slow start."""

import pytest

from assay.engine.past.taken_over import BUNDLED_CODECS, SampledJob, for_sample, taken_over

COMPRESS, CODEC = "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec"
SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"
OF_HADOOP = "org.apache.hadoop.io.compress."


@pytest.mark.parametrize(
    ("codec", "nearest"),
    [
        ("com.hadoop.compression.lzo.LzoCodec", "SnappyCodec"),
        (f"{OF_HADOOP}Lz4Codec", "SnappyCodec"),
        ("com.vendor.FastCodec", "SnappyCodec"),
        (f"{OF_HADOOP}ZStandardCodec", "DefaultCodec"),
        ("com.vendor.QatDeflateCodec", "DefaultCodec"),
    ],
)
def test_a_codec_that_the_bundled_hadoop_lacks_is_replaced_by_the_nearest(codec, nearest):
    settings, replaced = taken_over({COMPRESS: "true", CODEC: codec})
    assert settings == {COMPRESS: "true", CODEC: OF_HADOOP + nearest, SLOW_START: "0.05"}
    assert replaced.startswith(f"the bundled Hadoop lacks {codec}, so {nearest} compresses the outputs of maps")
    kept = for_sample(SampledJob({COMPRESS: "true", CODEC: codec}, bundled=False))
    assert kept == ({COMPRESS: "true", CODEC: codec, SLOW_START: "0.05"}, "")


@pytest.mark.parametrize("codec", sorted(BUNDLED_CODECS))
def test_a_codec_that_it_has_is_taken_over(codec):
    settings, replaced = taken_over({COMPRESS: "true", CODEC: codec})
    assert (settings[COMPRESS], settings[CODEC], replaced) == ("true", codec, "")


def test_a_codec_that_compresses_nothing_is_left_out():
    assert taken_over({COMPRESS: "false", CODEC: "com.vendor.FastCodec"}).properties[COMPRESS] == "false"
    assert CODEC not in taken_over({COMPRESS: "false", CODEC: "com.vendor.FastCodec"}).properties
    assert CODEC not in taken_over({CODEC: "com.vendor.FastCodec"}).properties


def test_settings_without_a_slow_start_have_hadoop_s():
    for made in (taken_over, lambda settings: for_sample(SampledJob(settings))):
        assert made({"dfs.replication": "3"}).properties[SLOW_START] == "0.05"
        assert made({SLOW_START: "0.8"}).properties[SLOW_START] == "0.8"
        assert SLOW_START not in made({}).properties  # nothing is known of the site


def test_reducers_become_fewer_in_proportion():
    reduces = "mapreduce.job.reduces"
    assert for_sample(SampledJob({}, share=0.25, reduces=10)).properties == {reduces: "2"}
    assert for_sample(SampledJob({}, share=0.001, reduces=10)).properties == {reduces: "1"}
    assert for_sample(SampledJob({}, share=0.25)).properties == {}
