import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;
import org.assay.redis.LinesInputFormat;
import org.assay.rows.RowKeys;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * Reads a table of Redis, and looks some of its lines up, by the format of jobs and by Jedis. See
 * {@code stores.py}, which runs it.
 *
 * <p>{@code reads PATH ROUNDS THREADS ASKED}: the table is on one server; {@code ASKED} is a local
 * file with the numbers of the lines to look up.
 */
public final class RedisTimes {
  private static final String TABLE = "bench.lines";

  /** How many keys one command gets. */
  private static final int TOGETHER = 500;

  private RedisTimes() {}

  public static void main(String[] args) throws Exception {
    StoreTimes.besideDriver(
        args,
        new LinesInputFormat(),
        "redis.assay.tasks",
        (conf, rows, threads) -> byDriver(conf, List.of(), threads),
        RedisTimes::byDriver);
  }

  /** These rows, or all where there are none, by Jedis, which connects first, as the format does. */
  private static StoreTimes.Read byDriver(Configuration conf, List<Long> rows, int threads)
      throws Exception {
    try (RedisClient client = RedisClient.create(HostAndPort.from(conf.get("redis.servers")))) {
      Map.Entry<String, String> writer = client.hgetAll(TABLE).entrySet().iterator().next();
      byte[] id = StringUtils.hexStringToByte(writer.getKey());
      long count = Long.parseLong(writer.getValue().split(" ")[0]);
      List<Long> wanted =
          rows.isEmpty() ? LongStream.range(0, count).boxed().collect(Collectors.toList()) : rows;
      List<StoreTimes.Way> ways = new ArrayList<>();
      for (List<Long> share : StoreTimes.shares(wanted, threads)) {
        ways.add(() -> gets(client, id, share));
      }
      return StoreTimes.together(ways, threads);
    }
  }

  private static StoreTimes.Read gets(RedisClient client, byte[] writer, List<Long> rows) {
    StoreTimes.Read read = new StoreTimes.Read();
    for (int first = 0; first < rows.size(); first += TOGETHER) {
      byte[][] names =
          rows.subList(first, Math.min(first + TOGETHER, rows.size())).stream()
              .map(row -> name(RowKeys.key(writer, row)))
              .toArray(byte[][]::new);
      client.mget(names).forEach(line -> read.add(line.length));
    }
    return read;
  }

  private static byte[] name(byte[] key) {
    ByteArrayOutputStream name = new ByteArrayOutputStream();
    name.writeBytes((TABLE + "/").getBytes(StandardCharsets.UTF_8));
    name.writeBytes(key);
    return name.toByteArray();
  }
}
