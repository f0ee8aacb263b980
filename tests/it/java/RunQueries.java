import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.DriverFactory;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.QueryPlan;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.exec.tez.TezTask;
import org.apache.hadoop.hive.ql.session.SessionState;
import org.apache.tez.common.counters.CounterGroup;
import org.apache.tez.common.counters.TezCounter;

/**
 * Runs Hive's statements, one in each line of a file, in one session; and prints what Tez told Hive
 * that the tasks of each counted.
 */
public final class RunQueries {
  public static void main(String[] arguments) throws Exception {
    HiveConf settings = new HiveConf(SessionState.class);
    SessionState session = SessionState.start(settings);
    for (String statement : Files.readAllLines(Path.of(arguments[0]))) {
      IDriver driver = DriverFactory.newDriver(settings);
      driver.compileAndRespond(statement);
      QueryPlan plan = driver.getPlan();
      driver.run();
      for (TezTask task : Utilities.getTezTasks(plan.getRootTasks())) {
        for (CounterGroup group : task.getTezCounters()) {
          for (TezCounter counter : group) {
            System.out.printf(
                "counted\t%s\t%s\t%s\t%d%n",
                plan.getQueryId(), group.getName(), counter.getName(), counter.getValue());
          }
        }
      }
      driver.close();
      driver.destroy();
    }
    session.close();
    System.exit(0);
  }
}
