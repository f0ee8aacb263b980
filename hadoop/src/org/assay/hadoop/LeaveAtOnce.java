package org.assay.hadoop;

import java.net.HttpURLConnection;
import java.net.URL;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.CustomJobEndNotifier;

/**
 * Ends a job's application master as soon as its work is done.
 *
 * <p>A master that has stopped all its services and taken leave of the ResourceManager sleeps for another five seconds
 * (MRAppMaster.shutDownJob) before it ends, and the next job's master has to wait for its place. Hadoop calls the
 * job-end notifier right before that sleep. This one leaves its client the time to ask once more, then ends the process
 * as the master itself would. A notification that the user asked for is sent all the same.
 */
public final class LeaveAtOnce implements CustomJobEndNotifier {
  /** The address that stands for "notify nobody". */
  private static final String NOBODY = "http://127.0.0.1:9/";

  /** A client of a brisk cluster asks every 100 ms. */
  private static final long LAST_QUESTIONS_MS = 400;

  private static final int TIMEOUT_MS = 5000;

  @Override
  public boolean notifyOnce(URL url, Configuration job) throws Exception {
    if (!url.toString().startsWith(NOBODY) && !answers(url)) {
      return false;
    }
    Thread.sleep(LAST_QUESTIONS_MS);
    System.exit(0);
    return true;
  }

  private static boolean answers(URL url) throws Exception {
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
  }
}
