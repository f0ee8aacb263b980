package org.assay.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;

/** Cassandra's nodes, as the driver reaches them: its errors are IOExceptions here. */
final class Servers implements Closeable {
  /** The property with {@code HOST:PORT} of the nodes that answer clients, apart by commas. */
  static final String CONTACTS = "cassandra.contact-points";

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int PAGE_ROWS = 5000;
  private static final long POLL_NS = 100_000_000;

  /** All that are to have a line must take it; so one is enough to read it. */
  private static final ConsistencyLevel WRITING = ConsistencyLevel.ALL;

  private static final ConsistencyLevel READING = ConsistencyLevel.ONE;

  private final List<InetSocketAddress> contacts;
  private final CqlSession session;

  Servers(Configuration conf) throws IOException {
    contacts = contacts(conf);
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder(Servers.class.getClassLoader())
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, PATIENCE)
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, PATIENCE)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_AGREEMENT_TIMEOUT, PATIENCE)
            .withString(DefaultDriverOption.REQUEST_CONSISTENCY, READING.name())
            .withInt(DefaultDriverOption.REQUEST_PAGE_SIZE, PAGE_ROWS)
            // Hadoop's class path has another version of the library.
            .withString(DefaultDriverOption.METRICS_FACTORY_CLASS, "NoopMetricsFactory")
            // Nobody closes what tasks share.
            .withBoolean(DefaultDriverOption.NETTY_DAEMON, true)
            .build();
    session =
        asked(
            () ->
                CqlSession.builder()
                    .addContactPoints(contacts)
                    .withLocalDatacenter("datacenter1") // that of SimpleSnitch
                    .withConfigLoader(config)
                    .build());
  }

  /** What a call of the driver gives. */
  static <T> T asked(Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (DriverException | CompletionException e) {
      Throwable said = e instanceof CompletionException ? e.getCause() : e;
      throw new IOException("Cassandra: " + said.getMessage(), e);
    }
  }

  /**
   * The nodes that a configuration names.
   *
   * @throws IllegalArgumentException where it names none
   */
  static List<InetSocketAddress> contacts(Configuration conf) {
    List<InetSocketAddress> contacts = new ArrayList<>();
    for (String contact : conf.getTrimmedStrings(CONTACTS)) {
      int colon = contact.lastIndexOf(':');
      int port = Integer.parseInt(contact.substring(colon + 1));
      contacts.add(new InetSocketAddress(contact.substring(0, colon), port));
    }
    if (contacts.isEmpty()) {
      throw new IllegalArgumentException(
          "nothing says where Cassandra is: set " + CONTACTS + " to HOST:PORT of its nodes");
    }
    return contacts;
  }

  /** The first value of a row, a blob. */
  static byte[] bytes(Row row) {
    ByteBuffer value = row.getByteBuffer(0);
    byte[] bytes = new byte[value.remaining()];
    value.get(bytes);
    return bytes;
  }

  /** Reads, or changes the schema. */
  ResultSet ask(String query, Object... values) throws IOException {
    return asked(() -> session.execute(query, values));
  }

  /** The names of the tables of a keyspace; none where it is not there. */
  List<String> tables(String keyspace) throws IOException {
    String query = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?";
    List<String> names = new ArrayList<>();
    ask(query, keyspace).forEach(row -> names.add(row.getString(0)));
    return names;
  }

  void makeKeyspace(String name, int copies) throws IOException {
    String replication = "{'class': 'SimpleStrategy', 'replication_factor': " + copies + "}";
    ask("CREATE KEYSPACE IF NOT EXISTS " + name + " WITH replication = " + replication);
  }

  void change(String query, Object... values) throws IOException {
    SimpleStatement change = SimpleStatement.newInstance(query, values);
    asked(() -> session.execute(change.setConsistencyLevel(WRITING)));
  }

  /** A prepared query; the driver keeps it. */
  private PreparedStatement prepared(String query, ConsistencyLevel level) {
    return session.prepare(SimpleStatement.newInstance(query).setConsistencyLevel(level));
  }

  /** Changes something with many others at once. */
  CompletionStage<AsyncResultSet> put(String query, Object... values) {
    return session.executeAsync(prepared(query, WRITING).bind(values));
  }

  /** The rows with these keys, asked for at once; null where there is none. */
  List<Row> get(String query, List<byte[]> keys) throws IOException {
    PreparedStatement get = asked(() -> prepared(query, READING));
    List<CompletionStage<AsyncResultSet>> answers = new ArrayList<>();
    for (byte[] key : keys) {
      answers.add(session.executeAsync(get.bind(ByteBuffer.wrap(key))));
    }
    List<Row> rows = new ArrayList<>();
    for (CompletionStage<AsyncResultSet> answer : answers) {
      rows.add(asked(() -> answer.toCompletableFuture().join().one()));
    }
    return rows;
  }

  /** Rows of a range of tokens, each stretch of which is asked of a node that has it. */
  Iterator<Row> byTokens(String columns, String table, long after, long last) throws IOException {
    String query =
        "SELECT " + columns + " FROM " + table + " WHERE token(key) > ? AND token(key) <= ?";
    PreparedStatement select = asked(() -> prepared(query, READING));
    TokenMap tokens = tokens();
    Iterator<Ring.Range> left = ring().stretches(after, last).iterator();
    return new Iterator<>() {
      private Iterator<Row> rows = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!rows.hasNext() && left.hasNext()) {
          Ring.Range stretch = left.next();
          Token token = tokens.parse(Long.toString(stretch.last));
          rows =
              session
                  .execute(select.bind(stretch.after, stretch.last).setRoutingToken(token))
                  .iterator();
        }
        return rows.hasNext();
      }

      @Override
      public Row next() {
        return rows.next();
      }
    };
  }

  private Collection<Node> nodes() {
    return session.getMetadata().getNodes().values();
  }

  private TokenMap tokens() throws IOException {
    return session
        .getMetadata()
        .getTokenMap()
        .orElseThrow(() -> new IOException("Cassandra says nothing of its tokens"));
  }

  Ring ring() throws IOException {
    TokenMap tokens = tokens();
    Map<Long, String> owners = new HashMap<>();
    for (Node node : nodes()) {
      InetSocketAddress address = (InetSocketAddress) node.getEndPoint().resolve();
      for (Token token : tokens.getTokens(node)) {
        owners.put(Long.parseLong(tokens.format(token)), address.getHostName());
      }
    }
    return new Ring(owners);
  }

  /** Waits until all nodes that are named have joined the ring: they may still hear of it. */
  void awaitAll() throws IOException {
    long begunNs = System.nanoTime();
    while (ring().hosts() < contacts.size()) {
      if (System.nanoTime() - begunNs > PATIENCE.toNanos()) {
        throw new IOException("not all of " + contacts + " have joined Cassandra's ring");
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Waits until no node writes memtables into files, nor is about to. */
  void awaitFlushed() throws IOException {
    SimpleStatement pools =
        SimpleStatement.newInstance(
            "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools");
    for (Node node : nodes()) {
      while (node.getState() == NodeState.UP && busy(pools.setNode(node), "Memtable")) {
        LockSupport.parkNanos(POLL_NS);
      }
    }
  }

  private boolean busy(SimpleStatement pools, String purpose) throws IOException {
    for (Row pool : asked(() -> session.execute(pools))) {
      String name = pool.getString(0);
      if (name != null && name.contains(purpose) && pool.getInt(1) + pool.getInt(2) > 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    session.close();
  }
}
