package org.assay.jobs.clustering;

import static org.assay.jobs.clustering.ClusteringCounter.ALL_WEDGES;
import static org.assay.jobs.clustering.ClusteringCounter.COEFFICIENTS_E9;
import static org.assay.jobs.clustering.ClusteringCounter.CORNERS;
import static org.assay.jobs.clustering.ClusteringCounter.VERTICES;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.assay.jobs.degreeorder.DegreeOrder;
import org.assay.jobs.driver.JobFailedException;
import org.assay.jobs.driver.JobSequence;
import org.assay.jobs.driver.RunReport;
import org.assay.jobs.driver.Workload;

/**
 * The command {@code clustering-coefficient}: how many of the pairs of a vertex' neighbours are
 * connected, for each vertex of a canonical graph, their mean, and the same part of all pairs in
 * the graph. See {@link org.assay.jobs.degreeorder.NeighboursJob}, {@link
 * org.assay.jobs.degreeorder.DirectionsJob}, {@link CornersJob} and {@link CoefficientsJob}.
 */
public final class ClusteringCoefficient extends Workload {
  private static final double E9 = 1e9;

  @Override
  public String name() {
    return "clustering-coefficient";
  }

  @Override
  public String summary() {
    return "degree, triangles and clustering coefficient of each vertex (4 jobs)";
  }

  @Override
  protected String variant() {
    return "intersect";
  }

  @Override
  protected int expectedJobs() {
    return 4;
  }

  @Override
  protected void runJobs(JobSequence jobs, Path input, Path output, RunReport report)
      throws IOException, InterruptedException, JobFailedException {
    Path directed = DegreeOrder.directions(jobs, input, report);

    Path parts = jobs.intermediate("corners");
    Job finding = jobs.newJob(CornersJob.class);
    CornersJob.configure(finding, directed, parts);
    DegreeOrder.reportTriangles(jobs.run("corners", finding), report);
    jobs.discard(directed);

    Job adding = jobs.newJob(CoefficientsJob.class);
    CoefficientsJob.configure(adding, parts, output);
    Counters counters = jobs.run("coefficients", adding);
    jobs.discard(parts);
    reportGlobals(counters, report);
  }

  private static void reportGlobals(Counters counters, RunReport report) {
    long vertices = counters.findCounter(VERTICES).getValue();
    long wedges = counters.findCounter(ALL_WEDGES).getValue();
    long corners = counters.findCounter(CORNERS).getValue();
    double sum = counters.findCounter(COEFFICIENTS_E9).getValue() / E9;
    report.result("all_wedges", wedges);
    report.result("corners", corners);
    report.result("global_coefficient", wedges == 0 ? 0.0 : (double) corners / wedges);
    report.result("average_coefficient", vertices == 0 ? 0.0 : sum / vertices);
  }
}
