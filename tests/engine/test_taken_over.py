"""Proves that an experiment takes over no codec that the bundled Hadoop lacks, and says what stands in its place."""

import pytest

from assay.engine.past.taken_over import BUNDLED_CODECS, for_sample, taken_over

COMPRESS, CODEC = "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec"
SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"
OF_HADOOP = "org.apache.hadoop.io.compress."


@pytest.mark.parametrize(
    ("codec", "nearest"),
    [
        ("com.hadoop.compression.lzo.LzoCodec", "SnappyCodec"),
        (f"{OF_HADOOP}Lz4Codec", "SnappyCodec"),
        ("com.vendor.FastCodec", "SnappyCodec"),
        (f"{OF_HADOOP}ZStandardCodec", "DefaultCodec"),
        ("com.vendor.QatDeflateCodec", "DefaultCodec"),
    ],
)
def test_a_codec_that_the_bundled_hadoop_lacks_is_replaced_by_the_nearest(codec, nearest):
    settings, replaced = taken_over({COMPRESS: "true", CODEC: codec})
    assert settings == {COMPRESS: "true", CODEC: OF_HADOOP + nearest}
    assert replaced.startswith(f"the bundled Hadoop lacks {codec}, so {nearest} compresses the outputs of maps")
    kept = for_sample({COMPRESS: "true", CODEC: codec}, 1, None, bundled=False)
    assert kept == ({COMPRESS: "true", CODEC: codec, SLOW_START: "0.05"}, "")


@pytest.mark.parametrize("codec", sorted(BUNDLED_CODECS))
def test_a_codec_that_it_has_is_taken_over(codec):
    assert taken_over({COMPRESS: "true", CODEC: codec}) == ({COMPRESS: "true", CODEC: codec}, "")


def test_a_codec_that_compresses_nothing_is_left_out():
    assert taken_over({COMPRESS: "false", CODEC: "com.vendor.FastCodec"}) == ({COMPRESS: "false"}, "")
    assert taken_over({CODEC: "com.vendor.FastCodec"}) == ({}, "")
