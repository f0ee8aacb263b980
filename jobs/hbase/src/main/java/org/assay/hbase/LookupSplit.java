package org.assay.hbase;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;

/**
 * Lines of a table that one task looks up: some entries of the job's list, which follow each other.
 * They may lie on any host.
 */
public final class LookupSplit extends InputSplit implements Writable {
  /** With fewer entries a further task takes longer to start than it saves. */
  static final long LEAST_ENTRIES = 100;

  private TableName table;
  private LinePlaces places;
  private boolean rest;
  private long from;
  private long entries;
  private long lines;

  /** Empty, to be read. */
  public LookupSplit() {}

  private LookupSplit(TableName table, LinePlaces places, boolean rest, long from) {
    this.table = table;
    this.places = places;
    this.rest = rest;
    this.from = from;
  }

  /**
   * Shares the entries of a job's list among tasks, at most {@code most} of them.
   *
   * @param rest whether lines are wanted with what follows the columns that are apart
   * @throws IOException where the table has no line with a number that is asked for
   */
  static List<InputSplit> of(
      Configuration job, TableName table, LinePlaces places, boolean rest, int most)
      throws IOException {
    long entries = 0;
    try (AskedLines asked = new AskedLines(job)) {
      for (; asked.next(); entries++) {
        if (asked.last() >= places.lines()) {
          throw new IOException(
              "table "
                  + table
                  + " has "
                  + places.lines()
                  + " lines, counted from 0, and line "
                  + asked.last()
                  + " is asked for; ask for lines that are there");
        }
      }
    }
    long parts = Math.max(1, Math.min(most, entries / LEAST_ENTRIES));
    List<InputSplit> splits = new ArrayList<>();
    try (AskedLines asked = new AskedLines(job)) {
      for (long part = 0; part < parts; part++) {
        LookupSplit split = new LookupSplit(table, places, rest, entries * part / parts);
        long end = entries * (part + 1) / parts;
        while (split.from + split.entries < end && asked.next()) {
          split.entries++;
          split.lines += asked.last() - asked.first() + 1;
        }
        splits.add(split);
      }
    }
    return splits;
  }

  TableName table() {
    return table;
  }

  LinePlaces places() {
    return places;
  }

  /** Whether lines are wanted with what follows the columns that are apart. */
  boolean rest() {
    return rest;
  }

  /** How many entries of the list come before those of this task. */
  long from() {
    return from;
  }

  /** How many entries of the list the task has. */
  long entries() {
    return entries;
  }

  /** How many lines these ask for. */
  long lines() {
    return lines;
  }

  /** In lines, as nobody knows their bytes; 1 at least, as of any split. */
  @Override
  public long getLength() {
    return Math.max(1, lines);
  }

  @Override
  public String[] getLocations() {
    return new String[0];
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeUTF(table.getNameAsString());
    places.write(out);
    out.writeBoolean(rest);
    out.writeLong(from);
    out.writeLong(entries);
    out.writeLong(lines);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = TableName.valueOf(in.readUTF());
    places = LinePlaces.read(in);
    rest = in.readBoolean();
    from = in.readLong();
    entries = in.readLong();
    lines = in.readLong();
  }
}
