package org.assay.documents;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.assay.rows.RowKeys;
import org.bson.Document;

/** The servers, as MongoDB's driver reaches them: its errors are IOExceptions here. */
final class Servers implements Closeable {
  /** The property with {@code HOST:PORT} of all servers, apart by commas, the same everywhere. */
  static final String ADDRESSES = "documents.servers";

  private static final int PATIENCE_S = 60;

  private final List<ServerAddress> addresses;
  private final List<MongoClient> clients = new ArrayList<>();

  Servers(Configuration conf) {
    addresses = addresses(conf);
    for (ServerAddress address : addresses) {
      clients.add(
          MongoClients.create(
              MongoClientSettings.builder()
                  .applyToClusterSettings(
                      cluster ->
                          cluster
                              .hosts(List.of(address))
                              .serverSelectionTimeout(PATIENCE_S, TimeUnit.SECONDS))
                  .retryWrites(false) // a second put of a document would find the first
                  .build()));
    }
  }

  /** The servers that a configuration names. */
  static List<ServerAddress> addresses(Configuration conf) {
    List<ServerAddress> addresses = new ArrayList<>();
    for (String address : conf.getTrimmedStrings(ADDRESSES)) {
      addresses.add(new ServerAddress(address));
    }
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException(
          "nothing says where the servers of documents are: set " + ADDRESSES + " to HOST:PORT");
    }
    return addresses;
  }

  /** What a call of the driver gives. */
  static <T> T asked(Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (MongoException | CompletionException e) {
      Throwable said = e instanceof CompletionException ? e.getCause() : e;
      throw new IOException("FerretDB: " + said.getMessage(), e);
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

  private MongoDatabase database(int server, String name) {
    return clients.get(server).getDatabase(name);
  }

  MongoCollection<Document> collection(int server, String database, String name) {
    return database(server, database).getCollection(name);
  }

  List<String> collections(int server, String database) throws IOException {
    return asked(() -> database(server, database).listCollectionNames().into(new ArrayList<>()));
  }

  /** Drops the collections with such names. */
  void drop(int server, String database, Predicate<String> such) throws IOException {
    for (String name : collections(server, database)) {
      if (such.test(name)) {
        asked(() -> database(server, database).runCommand(new Document("drop", name)));
      }
    }
  }

  @Override
  public void close() {
    clients.forEach(MongoClient::close);
  }
}
