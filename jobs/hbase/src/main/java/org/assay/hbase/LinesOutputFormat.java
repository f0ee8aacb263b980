package org.assay.hbase;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.assay.rows.RowOutputFormat;
import org.assay.rows.TableOutput;

/** See {@link RowOutputFormat}: tables are those of HBase. */
public final class LinesOutputFormat<K, V> extends RowOutputFormat<K, V> {
  /** As Hadoop makes it. */
  public LinesOutputFormat() {
    super(HbaseStore.INSTANCE);
  }

  @Override
  protected TableOutput<K, V> output(Configuration given, String table) {
    Configuration conf = HBaseConfiguration.create(given);
    boolean bulk = new TableSettings(conf).load() == TableSettings.Load.BULK;
    return bulk ? new LoadOutput<>(table) : super.output(conf, table);
  }
}
