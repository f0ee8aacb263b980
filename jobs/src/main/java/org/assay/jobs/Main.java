package org.assay.jobs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;
import org.assay.jobs.clustering.ClusteringCoefficient;
import org.assay.jobs.components.Components;
import org.assay.jobs.components.ComponentsByStars;
import org.assay.jobs.cores.KCore;
import org.assay.jobs.degrees.DegreeDistribution;
import org.assay.jobs.distances.Distances;
import org.assay.jobs.driver.Workload;
import org.assay.jobs.friendlists.FriendLists;
import org.assay.jobs.kmeans.KMeans;
import org.assay.jobs.labels.LabelPropagation;
import org.assay.jobs.linesort.LineSort;
import org.assay.jobs.lookup.Lookup;
import org.assay.jobs.mutualfriends.IntersectMutualFriends;
import org.assay.jobs.mutualfriends.MutualFriends;
import org.assay.jobs.mutualfriends.TunedMutualFriends;
import org.assay.jobs.normalise.Normalise;
import org.assay.jobs.pagerank.PageRank;
import org.assay.jobs.triangles.IntersectTriangles;
import org.assay.jobs.triangles.PartitionTriangles;
import org.assay.jobs.triangles.Triangles;
import org.assay.jobs.triangles.TunedTriangles;
import org.assay.jobs.wordfrequency.WordFrequency;

/** The entry point of {@code hadoop jar assay-jobs.jar}: picks the command and runs it. */
public final class Main {
  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] args) throws Exception {
    System.exit(run(new Configuration(), args));
  }

  /** Runs a command with these Hadoop settings and returns its exit code. */
  public static int run(Configuration conf, String... args) throws Exception {
    List<String> given = Arrays.asList(args);
    if (given.isEmpty() || given.contains("--help") || given.contains("-h")) {
      System.out.print(usage());
      return Workload.OK;
    }
    for (Workload workload : workloads()) {
      if (workload.name().equals(args[0])) {
        return ToolRunner.run(conf, workload, Arrays.copyOfRange(args, 1, args.length));
      }
    }
    System.err.println("assay: unknown command " + args[0] + "; --help lists the commands");
    return Workload.BAD_USAGE;
  }

  private static List<Workload> workloads() {
    List<Workload> workloads = new ArrayList<>();
    workloads.add(new Normalise());
    workloads.add(new FriendLists());
    workloads.add(new MutualFriends());
    workloads.add(new TunedMutualFriends());
    workloads.add(new IntersectMutualFriends());
    workloads.add(new Components());
    workloads.add(new ComponentsByStars());
    workloads.add(new Distances());
    workloads.add(new KCore());
    workloads.add(new LabelPropagation());
    workloads.add(new Triangles());
    workloads.add(new TunedTriangles());
    workloads.add(new IntersectTriangles());
    workloads.add(new PartitionTriangles());
    workloads.add(new ClusteringCoefficient());
    workloads.addAll(List.of(KMeans.paper(), KMeans.tuned()));
    workloads.addAll(List.of(PageRank.paper(), PageRank.tuned()));
    workloads.add(new DegreeDistribution());
    workloads.add(WordFrequency.combined());
    workloads.add(WordFrequency.plain());
    workloads.add(new LineSort());
    workloads.add(new Lookup());
    return workloads;
  }

  private static String usage() {
    StringBuilder usage = new StringBuilder();
    usage.append(
        "Usage: hadoop jar assay-jobs.jar <command> [-D property=value ...] <input> <output>"
            + " [options]\n\nCommands:\n");
    for (Workload workload : workloads()) {
      usage.append(String.format(Locale.ROOT, "  %-24s %s%n", workload.name(), workload.summary()));
      usage.append(workload.optionsUsage());
    }
    return usage
        .append("\nOptions of all commands:\n")
        .append("    --report FILE          write a JSON report to this local file\n")
        .append("\nExample:\n")
        .append("  hadoop jar assay-jobs.jar normalise downloads/graph.txt.gz graph\n")
        .append("  hadoop jar assay-jobs.jar triangles -D mapreduce.job.reduces=4 graph count")
        .append(" --report triangles.json\n")
        .append("\nExit codes: 0 done, 1 a job failed, 2 the arguments or the input are wrong.\n")
        .toString();
  }
}
