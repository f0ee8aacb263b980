import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.StringUtils;
import org.assay.documents.LinesInputFormat;
import org.assay.rows.RowKeys;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;

/**
 * Reads a table of documents, and looks some of its lines up, by the format of jobs and by
 * MongoDB's driver. See {@code stores.py}, which runs it.
 *
 * <p>{@code reads PATH ROUNDS THREADS ASKED}: the table is the only one there, on one server;
 * {@code ASKED} is a local file with the numbers of the lines to look up.
 */
public final class DocumentsTimes {
  /** How many lines are one collection. */
  private static final int LINES = 8192;

  private DocumentsTimes() {}

  public static void main(String[] args) throws Exception {
    StoreTimes.besideDriver(
        args,
        new LinesInputFormat(),
        "documents.assay.tasks",
        (conf, rows, threads) -> byDriver(conf, threads, DocumentsTimes::collections),
        (conf, rows, threads) -> byDriver(conf, threads, open -> gets(open, rows, threads)));
  }

  /** By the driver, which connects first, as the format does. */
  private static StoreTimes.Read byDriver(
      Configuration conf, int threads, Function<MongoDatabase, List<StoreTimes.Way>> parts)
      throws Exception {
    try (MongoClient client = MongoClients.create("mongodb://" + conf.get("documents.servers"))) {
      return StoreTimes.together(parts.apply(client.getDatabase("assay_input")), threads);
    }
  }

  private static void take(StoreTimes.Read read, Document document) {
    read.add(document.get("line", Binary.class).getData().length);
  }

  /** The whole table, collection by collection. */
  private static List<StoreTimes.Way> collections(MongoDatabase database) {
    List<StoreTimes.Way> ways = new ArrayList<>();
    for (String name : database.listCollectionNames()) {
      ways.add(
          () -> {
            StoreTimes.Read read = new StoreTimes.Read();
            database.getCollection(name).find().batchSize(1000).forEach(line -> take(read, line));
            return read;
          });
    }
    return ways;
  }

  /** Single documents, as many for each thread. */
  private static List<StoreTimes.Way> gets(MongoDatabase database, List<Long> rows, int threads) {
    String any = database.listCollectionNames().first();
    String begin = any.substring(0, any.lastIndexOf('/') + 1);
    String[] names = begin.split("/");
    byte[] writer = StringUtils.hexStringToByte(names[names.length - 1]);
    List<StoreTimes.Way> ways = new ArrayList<>();
    for (List<Long> share : StoreTimes.shares(rows, threads)) {
      ways.add(
          () -> {
            StoreTimes.Read read = new StoreTimes.Read();
            for (long row : share) {
              Bson asked = Filters.eq("_id", StringUtils.byteToHexString(RowKeys.key(writer, row)));
              take(read, database.getCollection(begin + row / LINES).find(asked).first());
            }
            return read;
          });
    }
    return ways;
  }
}
