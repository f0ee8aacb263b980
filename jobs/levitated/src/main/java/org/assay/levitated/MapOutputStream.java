package org.assay.levitated;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One map's output for one reducer, as the shuffle service sends it: no more is on its way than
 * fits into the buffers of the two sockets.
 *
 * <p>A stream that breaks is opened again at the byte where it broke, and so at the record: the
 * service sends all of it again, and what was read before is passed over. The output may be that of
 * a map that ran again. Its bytes are the same where maps give the same output for the same input;
 * where they are not, its length differs, or the checksum at its end, and the reducer fails before
 * its own output counts.
 */
final class MapOutputStream extends FSInputStream {
  static final int HEAP_BYTES = 64 << 10;

  /**
   * What the reducer's socket takes in; the service's own socket holds as much as its kernel lets
   * it.
   */
  private static final int SOCKET_BYTES = 64 << 10;

  private static final int TIMEOUT_MS = 180_000;
  private static final int MOST_ID_BYTES = 1000;
  private static final int MOST_LINE_BYTES = 8192;

  /** How often it tries to go on where it broke, with pauses that grow to half a minute. */
  private static final int MOST_TRIES = 12;

  private static final int MOST_SHIFTS = 5;
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputStream.class);

  private final MapOutputs outputs;
  private final TaskID map;
  private Socket socket;
  private InputStream in;
  private long length = -1;
  private long position;
  private long received;
  private int opened;

  MapOutputStream(MapOutputs outputs, TaskID map) {
    this.outputs = outputs;
    this.map = map;
  }

  /** Of the whole output, with its checksum; opens the stream. */
  long length() throws IOException {
    for (int tries = 1; in == null; tries++) {
      try {
        connect();
      } catch (IOException broken) {
        recover(broken, tries);
      }
    }
    return length;
  }

  /** How often it was opened again after it broke. */
  int reopened() {
    return Math.max(0, opened - 1);
  }

  /** Bytes of the output that came, those that came again included. */
  long received() {
    return received;
  }

  @Override
  public int read() throws IOException {
    byte[] single = new byte[1];
    return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int count) throws IOException {
    if (position == length) {
      return -1;
    }
    for (int tries = 1; ; tries++) {
      try {
        if (in == null) {
          connect();
        }
        int got = in.read(buffer, offset, (int) Math.min(count, length - position));
        if (got < 0) {
          throw new EOFException("the service ended it at byte " + position + " of " + length);
        }
        position += got;
        received += got;
        return got;
      } catch (IOException broken) {
        recover(broken, tries);
      }
    }
  }

  /** Opens the stream and passes over what was read before. */
  private void connect() throws IOException {
    MapOutputs.Location location = outputs.await(map);
    try {
      URL address = outputs.address(location);
      socket = new Socket();
      socket.setReceiveBufferSize(SOCKET_BYTES);
      socket.setSoTimeout(outputs.conf().getInt(MRJobConfig.SHUFFLE_READ_TIMEOUT, TIMEOUT_MS));
      int patience = outputs.conf().getInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, TIMEOUT_MS);
      socket.connect(new InetSocketAddress(address.getHost(), address.getPort()), patience);
      InputStream sent = new BufferedInputStream(socket.getInputStream(), HEAP_BYTES);
      ask(address, sent);
      readHeader(location.attempt.toString(), sent);
      for (long left = position; left > 0; ) {
        long passed = sent.skip(left);
        if (passed == 0) {
          throw new EOFException("the service ended it before byte " + position);
        }
        left -= passed;
        received += passed;
      }
      in = sent;
      opened++;
    } catch (BusyException busy) {
      throw busy;
    } catch (IOException broken) {
      outputs.failed(location);
      throw broken;
    }
  }

  private void ask(URL address, InputStream sent) throws IOException {
    String hash =
        SecureShuffleUtils.hashFromString(
            SecureShuffleUtils.buildMsgFrom(address), outputs.secret());
    String request =
        String.join(
            "\r\n",
            "GET " + address.getFile() + " HTTP/1.1",
            "Host: " + address.getHost() + ":" + address.getPort(),
            SecureShuffleUtils.HTTP_HEADER_URL_HASH + ": " + hash,
            ShuffleHeader.HTTP_HEADER_NAME + ": " + ShuffleHeader.DEFAULT_HTTP_HEADER_NAME,
            ShuffleHeader.HTTP_HEADER_VERSION + ": " + ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION,
            "Connection: close",
            "",
            "");
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    String answer = line(sent);
    if (answer.startsWith("HTTP/1.1 429")) {
      throw new BusyException("the service has as many connections as it may");
    }
    if (!answer.startsWith("HTTP/1.1 200")) {
      throw new IOException("the service answered " + answer);
    }
    String reply = "";
    for (String line = line(sent); !line.isEmpty(); line = line(sent)) {
      int colon = line.indexOf(':');
      String name = colon < 0 ? line : line.substring(0, colon);
      if (name.equalsIgnoreCase(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH)) {
        reply = line.substring(colon + 1).trim();
      } else if (line.toLowerCase(Locale.ROOT).contains("chunked")) {
        throw new IOException("the service answered in chunks");
      }
    }
    SecureShuffleUtils.verifyReply(reply, hash, outputs.secret());
  }

  private static String line(InputStream sent) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = sent.read(); next != '\n'; next = sent.read()) {
      if (next < 0 || line.length() > MOST_LINE_BYTES) {
        throw new EOFException("the service's answer has no end");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  /** Reads what a {@link ShuffleHeader} has, whose fields nobody else may read. */
  private void readHeader(String attempt, InputStream sent) throws IOException {
    DataInputStream header = new DataInputStream(sent);
    String id = WritableUtils.readStringSafely(header, MOST_ID_BYTES);
    long bytes = WritableUtils.readVLong(header);
    WritableUtils.readVLong(header); // its length without compression
    int reducer = WritableUtils.readVInt(header);
    if (!id.equals(attempt) || reducer != outputs.reducer()) {
      throw new IOException("the service sent the output of " + id + " for reducer " + reducer);
    }
    if (length >= 0 && length != bytes) {
      throw new DifferentOutputException(map + " ran again and its output differs in length");
    }
    length = bytes;
  }

  private void recover(IOException broken, int tries) throws IOException {
    close();
    if (tries == MOST_TRIES || broken instanceof DifferentOutputException) {
      throw new IOException("the output of " + map + " can't be read", broken);
    }
    LOG.warn("The output of {} is opened again at byte {}: {}", map, position, broken.toString());
    outputs.pause(1000L << Math.min(tries - 1, MOST_SHIFTS));
    outputs.poll();
  }

  @Override
  public void close() {
    in = null;
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException failed) {
        LOG.debug("The socket of {} was not closed", map, failed);
      }
    }
  }

  @Override
  public long getPos() {
    return position;
  }

  @Override
  public void seek(long place) {
    throw new UnsupportedOperationException("a stream is read in its order");
  }

  @Override
  public boolean seekToNewSource(long place) {
    return false;
  }

  /** A map whose second output is another one: what was merged before would not fit. */
  private static final class DifferentOutputException extends IOException {
    private static final long serialVersionUID = 1L;

    DifferentOutputException(String message) {
      super(message);
    }
  }

  /** The service asks to come again later: no fault of the map's output. */
  private static final class BusyException extends IOException {
    private static final long serialVersionUID = 1L;

    BusyException(String message) {
      super(message);
    }
  }
}
