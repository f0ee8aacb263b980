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
 * Runs the statements of a file by Hive's driver in one session, with options as `beeline` has them; and prints what
 * Tez told Hive that the tasks of each counted.
 */
public final class RunQueries {
  public static void main(String[] arguments) throws Exception {
    HiveConf settings = new HiveConf(SessionState.class);
    SessionState session = SessionState.start(settings);
    String file = "";
    for (int at = 0; at < arguments.length; at += 2) {
      String value = arguments[at + 1];
      if (arguments[at].equals("--hivevar")) {
        session.getHiveVariables().put(value.split("=", 2)[0], value.split("=", 2)[1]);
      } else if (arguments[at].equals("-f")) {
        file = value;
      }
    }
    for (String statement : Files.readString(Path.of(file)).strip().split(";\\s*(\n|$)")) {
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
