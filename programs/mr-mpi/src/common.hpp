// What all programs share: the lines of a rank's part of the input, typed values, files of the output, and what is told.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "keyvalue.h"
#include "mapreduce.h"

using MAPREDUCE_NS::KeyValue;
using MAPREDUCE_NS::MapReduce;

struct Job {
  int rank = 0, ranks = 1;
  std::string input, output, work;

  // Ends all ranks: mpirun then ends with another code than 0.
  [[noreturn]] static void fail(const std::string &why) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  void phase(const char *name) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("phase %s\n", name);
      std::fflush(stdout);
    }
  }

  // Pages lie in `work` where they do not fit into memory.
  void prepare(MapReduce &mr) const {
    mr.memsize = 32;
    mr.set_fpath(work.c_str());
  }

  uint64_t sum(uint64_t part) const {
    uint64_t all = 0;
    MPI_Allreduce(&part, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  double sum(double part) const {
    double all = 0;
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  std::FILE *part_file() const {
    char name[32];
    std::snprintf(name, sizeof name, "part-%05d", rank);
    std::FILE *file = std::fopen((output + "/" + name).c_str(), "w");
    if (file == nullptr) fail("no file can be made in " + output);
    return file;
  }

  static void close(std::FILE *file) {
    if (std::fclose(file) != 0) fail("a file of the output can't be written");
  }

  // Gives `take` each line that begins in this rank's share of all bytes of the input.
  template <typename Take>
  void lines(Take take) const {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(input))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    uint64_t total = 0, before = 0;
    for (const auto &file : files) total += std::filesystem::file_size(file);
    const uint64_t first = total * rank / ranks, end = total * (rank + 1) / ranks;
    for (const auto &file : files) {
      const uint64_t size = std::filesystem::file_size(file);
      if (before < end && before + size > first) part_of(file, before, first, end, take);
      before += size;
    }
  }

 private:
  template <typename Take>
  static void part_of(const std::filesystem::path &file, uint64_t before, uint64_t first, uint64_t end, Take take) {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    uint64_t at = before;
    if (first > before) {  // the line that the byte before belongs to is another rank's
      in.seekg(static_cast<std::streamoff>(first - before - 1));
      std::getline(in, line);
      at = first + line.size();
    }
    while (at < end && std::getline(in, line)) {
      at += line.size() + 1;
      take(line);
    }
    if (in.bad()) fail("the input can't be read: " + file.string());
  }
};

inline void add(KeyValue *kv, const void *key, int key_bytes, const void *value, int value_bytes) {
  kv->add(static_cast<char *>(const_cast<void *>(key)), key_bytes, static_cast<char *>(const_cast<void *>(value)), value_bytes);
}

// Gives `take` each value of a key, which may lie on several pages.
template <typename Take>
void values(MapReduce *mr, char *multivalue, int count, int *bytes, Take take) {
  auto give = [&](char *from, int of, int *lengths) {
    for (int at = 0; at < of; from += lengths[at++]) take(from, lengths[at]);
  };
  if (multivalue != nullptr) return give(multivalue, count, bytes);
  int blocks = 0;
  mr->multivalue_blocks(blocks);
  for (int block = 0; block < blocks; block++) {
    const int of = mr->multivalue_block(block, &multivalue, &bytes);
    give(multivalue, of, bytes);
  }
}

// An edge's other end, or a number of a vertex; both travel as values of a vertex.
struct Value {
  char kind;
  int64_t id;
  double number;
};

inline Value value_of(const char *bytes) {
  Value value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline int64_t id_of(const char *bytes) {
  int64_t id;
  std::memcpy(&id, bytes, sizeof id);
  return id;
}

// The ids of a line of an edge list: two, or one of a vertex without edges; none of a comment.
inline std::vector<int64_t> ids(const std::string &line) {
  std::vector<int64_t> found;
  const char *at = line.c_str();
  if (*at == '#') return found;
  for (char *next = nullptr; found.size() < 2; at = next) {
    const long long id = std::strtoll(at, &next, 10);
    if (next == at) break;
    found.push_back(id);
  }
  return found;
}

int word_count(Job &job);
int sort_lines(Job &job);
int components(Job &job, int most);
int page_rank(Job &job, double damping, double tolerance, int most);
