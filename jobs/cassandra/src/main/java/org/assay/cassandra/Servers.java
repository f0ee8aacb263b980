package org.assay.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.data.ByteUtils;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
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
import org.apache.hadoop.io.Text;
import org.assay.rows.Rows;

/** Cassandra's nodes, as the driver reaches them: its errors are IOExceptions here. */
final class Servers implements Closeable {
  /** The property with {@code HOST:PORT} of the nodes that answer clients, apart by commas. */
  static final String CONTACTS = "cassandra.contact-points";

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long POLL_NS = 100_000_000;

  private final List<InetSocketAddress> contacts;
  private final CqlSession session;

  Servers(Configuration conf) throws IOException {
    contacts = contacts(conf);
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder(Servers.class.getClassLoader())
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, PATIENCE)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_AGREEMENT_TIMEOUT, PATIENCE)
            // By default it waits for a second after each change of tables, and two before it ends.
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ZERO)
            .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
            .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
            // Hadoop's class path has another version of the library.
            .withString(DefaultDriverOption.METRICS_FACTORY_CLASS, "NoopMetricsFactory")
            .withBoolean(DefaultDriverOption.NETTY_DAEMON, true) // nobody closes what tasks share
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

  /** The nodes that a configuration names. */
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

  /** The first values of rows, in one answer or in several. */
  static class Answers implements Rows {
    private Iterator<Row> answer;

    Answers(Iterator<Row> first) {
      answer = first;
    }

    /** A further answer, which may have no rows; null where there is none. */
    Iterator<Row> more() throws IOException {
      return null;
    }

    @Override
    public boolean next(Text value) throws IOException {
      while (!asked(answer::hasNext)) {
        Iterator<Row> further = more();
        if (further == null) {
          return false;
        }
        answer = further;
      }
      value.set(ByteUtils.getArray(answer.next().getByteBuffer(0)));
      return true;
    }

    @Override
    public void close() {}
  }

  /** All nodes that are to have a row must take it; so to ask one is enough, as by default. */
  private static SimpleStatement statement(String query, Object... values) {
    SimpleStatement statement = SimpleStatement.newInstance(query, values);
    boolean changes = query.startsWith("INSERT") || query.startsWith("DELETE");
    return changes ? statement.setConsistencyLevel(ConsistencyLevel.ALL) : statement;
  }

  ResultSet ask(String query, Object... values) throws IOException {
    return asked(() -> session.execute(statement(query, values)));
  }

  /** The names of the tables of a keyspace; none where it is not there. */
  List<String> tables(String keyspace) throws IOException {
    return names("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace);
  }

  List<String> names(String query, Object... values) throws IOException {
    List<String> names = new ArrayList<>();
    ask(query, values).forEach(row -> names.add(row.getString(0)));
    return names;
  }

  /** A query whose values are given later. */
  PreparedStatement prepared(String query) throws IOException {
    return asked(() -> session.prepare(statement(query)));
  }

  CompletionStage<AsyncResultSet> send(BoundStatement statement) {
    return session.executeAsync(statement);
  }

  /** The rows of several answers of one page each, which are asked for at once, in order. */
  List<Row> all(List<BoundStatement> asked) throws IOException {
    List<CompletionStage<AsyncResultSet>> answers = new ArrayList<>();
    asked.forEach(statement -> answers.add(send(statement)));
    List<Row> rows = new ArrayList<>();
    for (CompletionStage<AsyncResultSet> answer : answers) {
      asked(() -> answer.toCompletableFuture().join()).currentPage().forEach(rows::add);
    }
    return rows;
  }

  /** Rows of a range of tokens, each stretch of which is asked of a node that has it. */
  Rows byTokens(String columns, String table, long after, long last) throws IOException {
    String where = " WHERE token(key) > ? AND token(key) <= ?";
    PreparedStatement select = prepared("SELECT " + columns + " FROM " + table + where);
    TokenMap tokens = tokens();
    Iterator<Ring.Range> left = ring().stretches(after, last).iterator();
    return new Answers(Collections.emptyIterator()) {
      @Override
      Iterator<Row> more() throws IOException {
        if (!left.hasNext()) {
          return null;
        }
        Ring.Range stretch = left.next();
        Token token = tokens.parse(Long.toString(stretch.last));
        BoundStatement bound = select.bind(stretch.after, stretch.last).setRoutingToken(token);
        return asked(() -> session.execute(bound)).iterator();
      }
    };
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
    for (Node node : session.getMetadata().getNodes().values()) {
      InetSocketAddress address = (InetSocketAddress) node.getEndPoint().resolve();
      for (Token token : tokens.getTokens(node)) {
        owners.put(Long.parseLong(tokens.format(token)), address.getHostName());
      }
    }
    return new Ring(owners);
  }

  /** Waits until all nodes that are named have joined the ring: they may still hear of it. */
  void awaitAll() throws IOException {
    for (long left = PATIENCE.toNanos() / POLL_NS; ring().hosts() < contacts.size(); left--) {
      if (left == 0) {
        throw new IOException("not all of " + contacts + " have joined Cassandra's ring");
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Waits until no node writes memtables into files, nor is about to. */
  void awaitFlushed() throws IOException {
    String query = "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools";
    for (Node node : session.getMetadata().getNodes().values()) {
      SimpleStatement pools = SimpleStatement.newInstance(query).setNode(node);
      while (node.getState() == NodeState.UP
          && asked(() -> session.execute(pools).all()).stream().anyMatch(Servers::flushes)) {
        LockSupport.parkNanos(POLL_NS);
      }
    }
  }

  private static boolean flushes(Row pool) {
    return pool.getString(0).contains("Memtable") && pool.getInt(1) + pool.getInt(2) > 0;
  }

  @Override
  public void close() {
    session.close();
  }
}
