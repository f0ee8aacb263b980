import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.ByteUtils;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.assay.cassandra.LinesInputFormat;
import org.assay.rows.RowKeys;

/**
 * Reads a table of Cassandra, and looks some of its lines up, by the format of jobs and by
 * Cassandra's driver. See {@code stores.py}, which runs it.
 *
 * <p>{@code reads PATH ROUNDS THREADS ASKED}: the table is the only one there; {@code ASKED} is a
 * local file with the numbers of the lines to look up.
 */
public final class CassandraTimes {
  private static final int RANGES_OF_THREAD = 8;

  /** Gets of a thread that are on their way at once, as many as a task of a job asks for. */
  private static final int GETS = 500;

  /** How many lines are one partition. */
  private static final int LINES = 128;

  private CassandraTimes() {}

  public static void main(String[] args) throws Exception {
    StoreTimes.besideDriver(
        args,
        new LinesInputFormat(),
        "cassandra.assay.ranges",
        (conf, rows, threads) -> byDriver(conf, threads, open -> ranges(open, threads)),
        (conf, rows, threads) -> byDriver(conf, threads, open -> gets(open, rows, threads)));
  }

  /** By the driver, which connects first, as the format does. */
  private static StoreTimes.Read byDriver(
      Configuration conf, int threads, Function<CqlSession, List<StoreTimes.Way>> parts)
      throws Exception {
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder(CassandraTimes.class.getClassLoader())
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(60))
            .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
            .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
            // Hadoop's class path has another version of the library.
            .withString(DefaultDriverOption.METRICS_FACTORY_CLASS, "NoopMetricsFactory")
            .build();
    String[] contact = conf.get("cassandra.contact-points").split(":");
    try (CqlSession session =
        CqlSession.builder()
            .addContactPoint(new InetSocketAddress(contact[0], Integer.parseInt(contact[1])))
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(config)
            .build()) {
      return StoreTimes.together(parts.apply(session), threads);
    }
  }

  private static String table(CqlSession session) {
    String query = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?";
    return "assay_input." + session.execute(query, "assay_input").one().getString(0);
  }

  /** The whole table, in ranges of as many tokens each. */
  private static List<StoreTimes.Way> ranges(CqlSession session, int threads) {
    PreparedStatement range =
        session.prepare(
            "SELECT line FROM " + table(session) + " WHERE token(key) > ? AND token(key) <= ?");
    int ranges = RANGES_OF_THREAD * threads;
    long tokens = Long.divideUnsigned(-1, ranges);
    List<StoreTimes.Way> ways = new ArrayList<>();
    for (int number = 0; number < ranges; number++) {
      long after = Long.MIN_VALUE + number * tokens;
      long last = number + 1 < ranges ? after + tokens : Long.MAX_VALUE;
      ways.add(
          () -> {
            StoreTimes.Read read = new StoreTimes.Read();
            for (Row row : session.execute(range.bind(after, last))) {
              read.add(row.getByteBuffer(0).remaining());
            }
            return read;
          });
    }
    return ways;
  }

  /** Single rows, as many for each thread. */
  private static List<StoreTimes.Way> gets(CqlSession session, List<Long> rows, int threads) {
    String table = table(session);
    Row any = session.execute("SELECT key FROM " + table + " LIMIT 1").one();
    byte[] writer = RowKeys.writer(ByteUtils.getArray(any.getByteBuffer(0)));
    PreparedStatement single =
        session.prepare("SELECT line FROM " + table + " WHERE key = ? AND number = ?");
    List<StoreTimes.Way> ways = new ArrayList<>();
    for (List<Long> share : StoreTimes.shares(rows, threads)) {
      ways.add(() -> gets(session, single, writer, share));
    }
    return ways;
  }

  private static StoreTimes.Read gets(
      CqlSession session, PreparedStatement single, byte[] writer, List<Long> rows) {
    StoreTimes.Read read = new StoreTimes.Read();
    Queue<CompletionStage<AsyncResultSet>> onTheirWay = new ArrayDeque<>();
    for (long row : rows) {
      if (onTheirWay.size() == GETS) {
        take(onTheirWay.remove(), read);
      }
      ByteBuffer key = ByteBuffer.wrap(RowKeys.key(writer, row / LINES));
      onTheirWay.add(session.executeAsync(single.bind(key, (int) (row % LINES))));
    }
    onTheirWay.forEach(answer -> take(answer, read));
    return read;
  }

  private static void take(CompletionStage<AsyncResultSet> answer, StoreTimes.Read read) {
    read.add(answer.toCompletableFuture().join().one().getByteBuffer(0).remaining());
  }
}
