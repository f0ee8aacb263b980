package org.assay.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs a node of Cassandra: {@code CassandraServer STORAGE [KEYSPACE=FOLDER ...]}. It keeps all but
 * its commit log below {@code STORAGE}, and the tables of these keyspaces in folders of their own,
 * to which it makes links.
 */
public final class CassandraServer {
  private static final String DAEMON = "org.apache.cassandra.service.CassandraDaemon";

  private CassandraServer() {}

  /** Goes on until the process ends. */
  public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
    Path storage = Path.of(arguments[0]);
    link(storage.resolve("data"), arguments);
    System.setProperty("cassandra.storagedir", storage.toString());
    Class.forName(DAEMON).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
  }

  /** Makes the folders and the links that all arguments but the first name. */
  static void link(Path data, String[] arguments) throws IOException {
    Files.createDirectories(data);
    for (int at = 1; at < arguments.length; at++) {
      int equals = arguments[at].indexOf('=');
      Path folder = Path.of(arguments[at].substring(equals + 1));
      Path link = data.resolve(arguments[at].substring(0, equals));
      Files.createDirectories(folder);
      Files.createSymbolicLink(link, folder);
    }
  }
}
