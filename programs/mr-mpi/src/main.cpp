// mr-mpi-jobs COMMAND INPUT OUTPUT WORK [--name=value ...]: workloads on MR-MPI; all three are folders of this machine.
#include "common.hpp"

static double option(int count, char **texts, const std::string &name, double usual) {
  const std::string begin = "--" + name + "=";
  for (int at = 0; at < count; at++)
    if (std::strncmp(texts[at], begin.c_str(), begin.size()) == 0) return std::strtod(texts[at] + begin.size(), nullptr);
  return usual;
}

static int run(Job &job, const std::string &command, int count, char **options) {
  if (command == "word-count") return word_count(job);
  if (command == "sort-lines") return sort_lines(job);
  if (command == "components") return components(job, static_cast<int>(option(count, options, "max-iterations", 1000)));
  if (command == "page-rank")
    return page_rank(job, option(count, options, "damping", 0.85), option(count, options, "tolerance", 1e-7),
                     static_cast<int>(option(count, options, "iterations", 50)));
  Job::fail("there is no command " + command);
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  if (count < 5) Job::fail("usage: mr-mpi-jobs COMMAND INPUT OUTPUT WORK [--name=value ...]");
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  job.input = words[2], job.output = words[3], job.work = words[4];
  const int code = run(job, words[1], count - 5, words + 5);
  MPI_Finalize();
  return code;
}
