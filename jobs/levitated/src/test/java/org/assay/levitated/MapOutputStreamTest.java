package org.assay.levitated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import javax.crypto.SecretKey;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A map output comes whole from a service that breaks off, and not at all from one that sends
 * another.
 */
class MapOutputStreamTest {
  private static final String MAP = "attempt_1_0001_m_000000_0";
  private static final String AGAIN = "attempt_1_0001_m_000000_1";
  private static final TaskAttemptID REDUCE = TaskAttemptID.forName("attempt_1_0001_r_000001_0");
  private final SecretKey secret = JobTokenSecretManager.createSecretKey(new byte[] {1, 2, 3});
  private final JobConf conf = new JobConf(false);
  private byte[] output = new byte[300_000];
  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
  private final List<TaskCompletionEvent> events = new ArrayList<>();
  private final List<TaskAttemptID> reported = new ArrayList<>();
  private final TaskStatus status = new Reported();
  private Thread last = new Thread();
  private ServerSocket server;
  private MapOutputs outputs;

  @BeforeEach
  void opened() throws IOException {
    new Random(1).nextBytes(output);
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    conf.setNumMapTasks(1);
    TaskUmbilicalProtocol umbilical =
        (TaskUmbilicalProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {TaskUmbilicalProtocol.class},
                (proxy, method, arguments) -> {
                  int from = (Integer) arguments[1];
                  TaskCompletionEvent[] news =
                      events.subList(from, events.size()).toArray(new TaskCompletionEvent[0]);
                  return new MapTaskCompletionEventsUpdate(news, false);
                });
    outputs = new MapOutputs(conf, REDUCE, umbilical, () -> {}, status, secret);
    tell(MAP, TaskCompletionEvent.Status.SUCCEEDED);
  }

  @AfterEach
  void closed() throws IOException {
    server.close();
  }

  private void tell(String attempt, TaskCompletionEvent.Status what) {
    String service = "http://127.0.0.1:" + server.getLocalPort();
    events.add(
        new TaskCompletionEvent(
            events.size(), TaskAttemptID.forName(attempt), 0, true, what, service));
  }

  /**
   * Answers requests after those before: with so many bytes of the output, which it says has so
   * many.
   */
  private void serve(String attempt, int length, int... sent) {
    Thread before = last;
    Thread thread =
        new Thread(
            () -> {
              join(before);
              for (int bytes : sent) {
                try (Socket client = server.accept()) {
                  answer(client, attempt, length, bytes);
                } catch (IOException broken) {
                  return;
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
    last = thread;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(Socket client, String attempt, int length, int bytes) throws IOException {
    BufferedReader request =
        new BufferedReader(
            new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
    String hash = "";
    for (String line = request.readLine(); !line.isEmpty(); line = request.readLine()) {
      asked.add(line);
      if (line.startsWith(SecureShuffleUtils.HTTP_HEADER_URL_HASH)) {
        hash = line.substring(line.indexOf(':') + 2);
      }
    }
    String reply = SecureShuffleUtils.generateHash(hash.getBytes(StandardCharsets.UTF_8), secret);
    String head =
        "HTTP/1.1 200 OK\r\n"
            + SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH
            + ": "
            + reply
            + "\r\n\r\n";
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    new ShuffleHeader(attempt, length, length, 1).write(new DataOutputStream(header));
    OutputStream out = client.getOutputStream();
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(header.toByteArray());
    out.write(output, 0, bytes);
  }

  private MapOutputStream stream() throws IOException {
    List<TaskID> maps = outputs.awaitAll();
    return new MapOutputStream(outputs, maps.get(0));
  }

  private byte[] read(MapOutputStream stream) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    byte[] buffer = new byte[7000];
    for (int got = stream.read(buffer, 0, buffer.length); got >= 0; ) {
      read.write(buffer, 0, got);
      got = stream.read(buffer, 0, buffer.length);
    }
    return read.toByteArray();
  }

  @Test
  void wholeOutputIsReadInOneStream() throws IOException {
    serve(MAP, output.length, output.length);
    MapOutputStream stream = stream();
    assertEquals(output.length, stream.length());
    assertArrayEquals(output, read(stream));
    assertEquals(0, stream.reopened());
    String path = "GET /mapOutput?job=job_1_0001&reduce=1&map=" + MAP + " HTTP/1.1";
    assertEquals(path, asked.get(0));
  }

  @Test
  void brokenStreamGoesOnWhereItBroke() throws IOException {
    serve(MAP, output.length, 100_000, output.length);
    MapOutputStream stream = stream();
    assertArrayEquals(output, read(stream));
    assertEquals(1, stream.reopened());
    assertEquals(output.length + 100_000, stream.received());
  }

  @Test
  void outputOfMapThatRanAgainGoesOnWhereTheFirstBroke() throws IOException {
    serve(MAP, output.length, 100_000);
    MapOutputStream stream = stream();
    byte[] begin = new byte[90_000];
    for (int had = 0; had < begin.length; ) {
      had += stream.read(begin, had, begin.length - had);
    }
    tell(MAP, TaskCompletionEvent.Status.OBSOLETE);
    tell(AGAIN, TaskCompletionEvent.Status.SUCCEEDED);
    serve(AGAIN, output.length, output.length, output.length);
    byte[] rest = read(stream);
    assertArrayEquals(Arrays.copyOfRange(output, begin.length, output.length), rest);
  }

  @Test
  void outputThatDiffersFailsTheReducer() throws IOException {
    serve(MAP, output.length, 100_000);
    MapOutputStream stream = stream();
    assertEquals(output.length, stream.length());
    tell(MAP, TaskCompletionEvent.Status.OBSOLETE);
    tell(AGAIN, TaskCompletionEvent.Status.SUCCEEDED);
    serve(AGAIN, 200_000, 200_000, 200_000);
    Exception failed = assertThrows(IOException.class, () -> read(stream));
    assertTrue(failed.getCause().getMessage().contains("differs in length"));
  }

  private void writeRecords(int count, CompressionCodec codec) throws IOException {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    IFile.Writer<IntWritable, Text> writer =
        new IFile.Writer<>(
            conf,
            new FSDataOutputStream(written, null),
            IntWritable.class,
            Text.class,
            codec,
            null);
    for (int record = 0; record < count; record++) {
      writer.append(new IntWritable(record), new Text("value " + record));
    }
    writer.close();
    output = written.toByteArray();
  }

  /**
   * Reads all records; how many there are, of which each has the key that follows the last one's.
   */
  private int countRecords(CompressionCodec codec) throws IOException {
    MapOutputStream stream = stream();
    long length = stream.length();
    IFile.Reader<IntWritable, Text> reader =
        new IFile.Reader<>(conf, new FSDataInputStream(stream), length, codec, null);
    DataInputBuffer bytes = new DataInputBuffer();
    IntWritable key = new IntWritable();
    int count = 0;
    for (; reader.nextRawKey(bytes); count++) {
      key.readFields(bytes);
      assertEquals(count, key.get());
      reader.nextRawValue(bytes);
    }
    reader.close();
    return count;
  }

  @Test
  void recordsOfBrokenCompressedStreamAreWhole() throws IOException {
    DefaultCodec codec = new DefaultCodec();
    codec.setConf(conf);
    writeRecords(50_000, codec);
    serve(MAP, output.length, output.length / 2, output.length);
    assertEquals(50_000, countRecords(codec));
  }

  @Test
  void checksumOfRecordsIsChecked() throws IOException {
    writeRecords(50_000, null);
    output[output.length - 7] ^= 1; // the last value's last byte
    serve(MAP, output.length, output.length);
    assertThrows(ChecksumException.class, () -> countRecords(null));
  }

  @Test
  void serviceThatSendsAnotherOutputIsReported() throws IOException {
    serve(AGAIN, output.length, output.length);
    serve(MAP, output.length, output.length);
    MapOutputStream stream = stream();
    assertArrayEquals(output, read(stream));
    assertEquals(List.of(TaskAttemptID.forName(MAP)), reported);
  }

  /** Hadoop's own status of a reducer is not public. */
  private final class Reported extends TaskStatus {
    @Override
    public boolean getIsMap() {
      return false;
    }

    @Override
    public void addFetchFailedMap(TaskAttemptID attempt) {
      reported.add(attempt);
    }
  }
}
