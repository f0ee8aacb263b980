// Iterative jobs on graphs: each iteration sends values along the edges and collates them by vertex.
#include <cmath>

#include "common.hpp"

namespace {

const char EDGE = 'e', OWN = 'o', SENT = 's';

struct State {
  Job *job;
  bool directed, first;
  uint64_t changed, dangling_vertices, edges;
  double base, damping, change, dangling;
};

MapReduce *current;

void send(KeyValue *kv, int64_t vertex, char kind, int64_t id, double number) {
  Value value;
  std::memset(&value, 0, sizeof value);
  value.kind = kind, value.id = id, value.number = number;
  add(kv, &vertex, sizeof vertex, &value, sizeof value);
}

void take_edges(int, KeyValue *kv, void *state) {
  auto *of = static_cast<State *>(state);
  of->job->lines([&](const std::string &line) {
    const auto ends = ids(line);
    for (const int64_t end : ends) send(kv, end, OWN, end, 0);
    if (ends.size() < 2) return;
    send(kv, ends[0], EDGE, ends[1], 0);
    if (!of->directed) send(kv, ends[1], EDGE, ends[0], 0);
  });
}

// Leaves each edge of a vertex once, and one value of its own.
void make_vertex(char *key, int, char *multivalue, int count, int *bytes, KeyValue *kv, void *state) {
  std::vector<int64_t> ends;
  const int64_t vertex = id_of(key);
  values(current, multivalue, count, bytes, [&](const char *value, int) {
    if (value_of(value).kind == EDGE) ends.push_back(value_of(value).id);
  });
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (const int64_t end : ends) send(kv, vertex, EDGE, end, 0);
  send(kv, vertex, OWN, vertex, 0);
  auto *of = static_cast<State *>(state);
  of->edges += ends.size();
  of->dangling_vertices += ends.empty();
}

// The smallest id that a vertex has or was sent becomes its own, and goes on to its neighbours if it is new.
void spread_least(char *key, int, char *multivalue, int count, int *bytes, KeyValue *kv, void *state) {
  auto *of = static_cast<State *>(state);
  const int64_t vertex = id_of(key);
  int64_t before = vertex, least = INT64_MAX;
  values(current, multivalue, count, bytes, [&](const char *bytes_of, int) {
    const Value value = value_of(bytes_of);
    if (value.kind == OWN) before = value.id;
    if (value.kind != EDGE) least = std::min(least, value.id);
  });
  const bool goes_on = of->first || least < before;
  of->changed += goes_on;
  values(current, multivalue, count, bytes, [&](const char *bytes_of, int) {
    const Value value = value_of(bytes_of);
    if (value.kind != EDGE) return;
    send(kv, vertex, EDGE, value.id, 0);
    if (goes_on) send(kv, value.id, SENT, least, 0);
  });
  send(kv, vertex, OWN, least, 0);
}

// The rank of a vertex from the shares that it was sent, and its shares for the targets of its edges.
void spread_rank(char *key, int, char *multivalue, int count, int *bytes, KeyValue *kv, void *state) {
  auto *of = static_cast<State *>(state);
  const int64_t vertex = id_of(key);
  double before = 0, shares = 0;
  uint64_t targets = 0;
  values(current, multivalue, count, bytes, [&](const char *bytes_of, int) {
    const Value value = value_of(bytes_of);
    if (value.kind == OWN) before = value.number;
    if (value.kind == SENT) shares += value.number;
    targets += value.kind == EDGE;
  });
  const double rank = of->first ? of->base : of->base + of->damping * shares;
  of->change += std::fabs(rank - before);
  if (targets == 0) of->dangling += rank;
  values(current, multivalue, count, bytes, [&](const char *bytes_of, int) {
    const Value value = value_of(bytes_of);
    if (value.kind != EDGE) return;
    send(kv, vertex, EDGE, value.id, 0);
    send(kv, value.id, SENT, 0, rank / static_cast<double>(targets));
  });
  send(kv, vertex, OWN, vertex, rank);
}

void write_id(char *key, int, char *value, int, void *file) {
  if (value_of(value).kind == OWN)
    std::fprintf(static_cast<std::FILE *>(file), "%lld\t%lld\n", static_cast<long long>(id_of(key)),
                 static_cast<long long>(value_of(value).id));
}

void write_rank(char *key, int, char *value, int, void *file) {
  if (value_of(value).kind == OWN)
    std::fprintf(static_cast<std::FILE *>(file), "%lld\t%.17g\n", static_cast<long long>(id_of(key)), value_of(value).number);
}

uint64_t read_graph(Job &job, MapReduce &mr, State &state) {
  job.prepare(mr);
  current = &mr;
  job.phase("map");
  mr.map(job.ranks, take_edges, &state);
  mr.collate(nullptr);
  mr.reduce(make_vertex, &state);
  uint64_t own = 0;
  mr.scan([](char *, int, char *value, int, void *count) {
    *static_cast<uint64_t *>(count) += value_of(value).kind == OWN;
  }, &own);
  job.phase("iterations");
  return job.sum(own);
}

}  // namespace

int components(Job &job, int most) {
  MapReduce mr(MPI_COMM_WORLD);
  State state{&job, false, true, 0, 0, 0, 0, 0, 0, 0};
  const uint64_t vertices = read_graph(job, mr, state);
  for (int done = 0;; done++) {
    if (done > most) Job::fail("vertices still change after max-iterations");
    state.changed = 0;
    mr.collate(nullptr);
    mr.reduce(spread_least, &state);
    state.first = false;
    if (job.sum(state.changed) == 0) break;
  }
  std::FILE *file = job.part_file();
  mr.scan(write_id, file);
  Job::close(file);
  if (job.rank == 0) std::printf("vertices: %llu\n", static_cast<unsigned long long>(vertices));
  return 0;
}

int page_rank(Job &job, double damping, double tolerance, int most) {
  MapReduce mr(MPI_COMM_WORLD);
  State state{&job, true, true, 0, 0, 0, 0, damping, 0, 0};
  const uint64_t vertices = read_graph(job, mr, state);
  const uint64_t edges = job.sum(state.edges), without = job.sum(state.dangling_vertices);
  const double count = static_cast<double>(vertices);
  state.base = 1 / count;
  int done = -1;  // the first pass hands out the ranks to begin with
  double change = 0, lost = 0;
  do {
    state.change = state.dangling = 0;
    mr.collate(nullptr);
    mr.reduce(spread_rank, &state);
    change = job.sum(state.change), lost = job.sum(state.dangling);
    state.first = false;
    state.base = (1 - damping) / count + damping * lost / count;
    done++;
  } while (done == 0 || (change >= tolerance && done < most));
  std::FILE *file = job.part_file();
  mr.scan(write_rank, file);
  Job::close(file);
  if (job.rank == 0)
    std::printf("assay-result {\"iterations\": %d, \"change\": %.17g, \"converged\": %d, \"vertices\": %llu, \"edges\": %llu, "
                "\"dangling_vertices\": %llu}\n",
                done, change, change < tolerance ? 1 : 0, static_cast<unsigned long long>(vertices),
                static_cast<unsigned long long>(edges), static_cast<unsigned long long>(without));
  return 0;
}
