package org.assay.redis;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.assay.rows.RowKeys;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** The servers, as Jedis reaches them: its errors are IOExceptions here. */
final class Servers implements Closeable {
  /** The property with {@code HOST:PORT} of all servers, apart by commas, the same everywhere. */
  static final String ADDRESSES = "redis.servers";

  /** A put waits for a slow drive that has yet to take the log. */
  private static final JedisClientConfig PATIENT =
      DefaultJedisClientConfig.builder().timeoutMillis(60_000).build();

  private final List<HostAndPort> addresses;
  private final List<RedisClient> clients = new ArrayList<>();

  Servers(Configuration conf) throws IOException {
    addresses = addresses(conf);
    for (HostAndPort address : addresses) {
      RedisClient.Builder builder = RedisClient.builder();
      builder.hostAndPort(address).clientConfig(PATIENT);
      clients.add(asked(address, builder::build));
    }
  }

  /** The servers that a configuration names. */
  static List<HostAndPort> addresses(Configuration conf) {
    List<HostAndPort> addresses = new ArrayList<>();
    for (String address : conf.getTrimmedStrings(ADDRESSES)) {
      addresses.add(HostAndPort.from(address));
    }
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException(
          "nothing says where the servers of Redis are: set " + ADDRESSES + " to HOST:PORT");
    }
    return addresses;
  }

  /** What a server with a number answers. */
  <T> T ask(int server, Function<RedisClient, T> call) throws IOException {
    return asked(addresses.get(server), () -> call.apply(clients.get(server)));
  }

  private static <T> T asked(HostAndPort address, Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (JedisException e) {
      throw new IOException("Redis at " + address + ": " + e.getMessage(), e);
    }
  }

  int count() {
    return clients.size();
  }

  /** The number of the server with a writer's rows: each has as large a range of all keys. */
  int of(byte[] writer) {
    return RowKeys.place(writer, count());
  }

  String host(byte[] writer) {
    return addresses.get(of(writer)).getHost();
  }

  @Override
  public void close() {
    clients.forEach(RedisClient::close);
  }
}
