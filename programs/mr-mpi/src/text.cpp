// Jobs on lines of text: counts of words, and a sort in a total order.
#include <cctype>

#include "common.hpp"

namespace {

const int SAMPLE_EVERY = 1000;
MapReduce *current;
std::vector<std::string> splitters;

void find_words(int, KeyValue *kv, void *job) {
  const uint64_t single = 1;
  static_cast<Job *>(job)->lines([&](const std::string &line) {
    for (size_t at = 0; at < line.size();) {
      while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at]))) at++;
      const size_t begin = at;
      while (at < line.size() && !std::isspace(static_cast<unsigned char>(line[at]))) at++;
      if (at > begin) add(kv, line.data() + begin, static_cast<int>(at - begin), &single, sizeof single);
    }
  });
}

void add_up(char *key, int key_bytes, char *multivalue, int count, int *bytes, KeyValue *kv, void *) {
  uint64_t all = 0;
  values(current, multivalue, count, bytes, [&](const char *value, int) {
    uint64_t some;
    std::memcpy(&some, value, sizeof some);
    all += some;
  });
  add(kv, key, key_bytes, &all, sizeof all);
}

void write_count(char *key, int key_bytes, char *value, int, void *file) {
  uint64_t count;
  std::memcpy(&count, value, sizeof count);
  std::fwrite(key, 1, key_bytes, static_cast<std::FILE *>(file));
  std::fprintf(static_cast<std::FILE *>(file), "\t%llu\n", static_cast<unsigned long long>(count));
}

// A key has the line's end, since none may be empty.
void take_lines(int, KeyValue *kv, void *job) {
  static_cast<Job *>(job)->lines([&](std::string &line) {
    line.push_back('\n');
    add(kv, line.data(), static_cast<int>(line.size()), nullptr, 0);
  });
}

std::string text_of(const char *key, int key_bytes) { return std::string(key, key_bytes - 1); }

int rank_of(char *key, int key_bytes) {
  const auto place = std::upper_bound(splitters.begin(), splitters.end(), text_of(key, key_bytes));
  return static_cast<int>(place - splitters.begin());
}

int compare(char *key, int key_bytes, char *other, int other_bytes) {
  const int order = std::memcmp(key, other, std::min(key_bytes, other_bytes) - 1);
  return order != 0 ? order : key_bytes - other_bytes;
}

void write_line(char *key, int key_bytes, char *, int, void *file) {
  std::fwrite(key, 1, key_bytes, static_cast<std::FILE *>(file));
}

// Lines between which the ranks' shares lie, from a sample of all ranks' lines.
void find_splitters(const Job &job) {
  std::string sampled;
  int lines = 0;
  job.lines([&](const std::string &line) {
    if (lines++ % SAMPLE_EVERY == 0) sampled += line + "\n";
  });
  const int size = static_cast<int>(sampled.size());
  std::vector<int> sizes(job.ranks), starts(job.ranks, 0);
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int at = 1; at < job.ranks; at++) starts[at] = starts[at - 1] + sizes[at - 1];
  std::string all(starts.back() + sizes.back(), '\0');
  MPI_Allgatherv(sampled.data(), size, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> sample;
  for (size_t at = 0, end; (end = all.find('\n', at)) != std::string::npos; at = end + 1)
    sample.push_back(all.substr(at, end - at));
  std::sort(sample.begin(), sample.end());
  for (int at = 1; at < job.ranks && !sample.empty(); at++) splitters.push_back(sample[sample.size() * at / job.ranks]);
}

}  // namespace

int word_count(Job &job) {
  MapReduce mr(MPI_COMM_WORLD);
  job.prepare(mr);
  current = &mr;
  job.phase("map");
  mr.map(job.ranks, find_words, &job);
  mr.compress(add_up, nullptr);
  job.phase("shuffle");
  mr.collate(nullptr);
  job.phase("reduce");
  const uint64_t distinct = mr.reduce(add_up, nullptr);
  std::FILE *file = job.part_file();
  mr.scan(write_count, file);
  Job::close(file);
  if (job.rank == 0) std::printf("distinct words: %llu\n", static_cast<unsigned long long>(distinct));
  return 0;
}

int sort_lines(Job &job) {
  MapReduce mr(MPI_COMM_WORLD);
  job.prepare(mr);
  job.phase("map");
  find_splitters(job);
  const uint64_t read = mr.map(job.ranks, take_lines, &job);
  job.phase("shuffle");
  const uint64_t written = mr.aggregate(rank_of);
  job.phase("reduce");
  mr.sort_keys(compare);
  std::FILE *file = job.part_file();
  mr.scan(write_line, file);
  Job::close(file);
  if (job.rank == 0)
    std::printf("assay-result {\"lines_read\": %llu, \"lines_written\": %llu}\n", static_cast<unsigned long long>(read),
                static_cast<unsigned long long>(written));
  return 0;
}
