// Models that learn from single rows, for Python.
#include "bind_row_models.hpp"

namespace thresher {

RowModels::RowModels(Maker<AnySingle> make, const nb::list& states, const nb::list& params, index_t n_weights, double bias,
                     index_t reads, std::optional<double> until, bool counts_scores,
                     std::optional<std::tuple<double, double>> measured)
    : make_(make), n_weights_(n_weights), reads_(reads), bias_(bias), until_(until) {
  const auto n_models = static_cast<index_t>(states.size());
  require(static_cast<index_t>(params.size()) == n_models, "there must be parameters for every state");
  require(reads >= 0 && reads < n_models, "the model to read is not there");
  for (index_t k = 0; k < n_models; ++k) {
    Model& model = models_.emplace_back();
    model.source = std::make_unique<PySource>(nb::cast<nb::dict>(states[k]), nb::cast<nb::dict>(params[k]), n_weights);
    const PySource& source = *model.source;
    for (const nb::dict& each : {source.state, source.params})
      for (const auto& [name, value] : each) model.held.append(value);
    const auto of_race = [&](const char* name) { return source.state.contains(name) ? source.array(name, "") : nullptr; };
    model.tally = reinterpret_cast<Tally*>(source.array("tally", "tally"));
    model.n_mistakes = source.array("n_mistakes", "");
    model.missed = of_race("missed");
    model.n_wrong = k == reads ? of_race("n_wrong") : nullptr;
    model.scores = ScorePlaces(source, counts_scores, 1);
    model.learner = make(source);
    model.n_rows = model.tally->n_rows;
  }
  if (measured) {
    const PySource& source = *models_.front().source;  // all models share these arrays
    const auto [first, every] = *measured;
    lengths_ = {source.array("unit_sum", ""), source.array("unit_count", ""), source.array("n_measured", ""), first, every};
  }
}

/// Model k, with an up-to-date learner. Requires that it has a weight for every feature of the row.
RowModels::Model& RowModels::current(index_t k, const RowReader& x) {
  require(x.width + 1 == n_weights_, "the row and the state differ in length");
  Model& model = models_[static_cast<std::size_t>(k)];
  if (model.tally->n_rows != model.n_rows) {
    model.learner = make_(*model.source);
    model.n_rows = model.tally->n_rows;
  }
  return model;
}

int RowModels::learn(const RowReader& x, double y, double weight, bool is_new) {
  if (until_ && (weight == 0 || current(reads_, x).n_rows + 1 >= *until_)) return left;
  failed_.clear();
  for (index_t k = 0; k < static_cast<index_t>(models_.size()); ++k)
    if (!step(current(k, x), x, y, weight, is_new)) failed_.push_back(k);
  if (lengths_) measure(x);
  has_ended_ = has_ended_ || !failed_.empty();
  return failed_.empty() ? learned : overflowed;
}

/// Measures or counts a row that was learned from.
void RowModels::measure(const RowReader& x) const {
  double n_seen = 0;
  for (const Model& model : models_) n_seen = std::max(n_seen, model.tally->n_rows);
  if (n_seen > lengths_->first && std::fmod(n_seen, lengths_->every) != 1) return;
  const index_t whole = 0;
  if (*lengths_->n_measured < lengths_->first)  // later rows are only counted
    measure_lengths(x.row.as_matrix(x.width), &whole, 1, *lengths_->sum, *lengths_->count);
  ++*lengths_->n_measured;
}

/// Returns false if the weights of the model overflowed.
bool RowModels::step(Model& model, const RowReader& x, double y, double weight, bool is_new) const {
  const Lesson lesson{&y, &weight, nullptr, 0, 1, false, 1};
  ScoreCounts counts = is_new ? model.scores.counts() : ScoreCounts();
  const PassResult r = model.learner->run(x.row, x.width, bias_, lesson, *model.tally, counts ? &counts : nullptr);
  model.n_rows = model.tally->n_rows;
  *model.n_mistakes += static_cast<double>(r.n_mistakes);
  if (r.diverged >= 0) return false;
  if (r.n_mistakes > 0 && model.missed) *model.missed += weight;
  if (r.n_mistakes > 0 && model.n_wrong) ++*model.n_wrong;
  if (r.paused >= 0) {
    model.learner->settle();
    model.learner = make_(*model.source);
  }
  return true;
}

double RowModels::score(const RowReader& x) { return current(reads_, x).learner->score(x.row, x.width, bias_); }

void bind_row_models(nb::module_& m) {
  nb::class_<RowModels>(m, "RowModels", "Models that learn from rows that come one by one; looks up their arrays once.")
      .def("learn", &RowModels::learn, nb::arg("x"), nb::arg("y"), nb::arg("weight"), nb::arg("is_new"))
      .def("score", &RowModels::score, nb::arg("x"))
      .def_prop_ro("has_ended", &RowModels::has_ended)
      .def("failed",
           [](const RowModels& models) {
    nb::list failed;
    for (const index_t k : models.failed()) failed.append(k);
    return failed;
  })
      .def_ro_static("LEARNED", &RowModels::learned)
      .def_ro_static("LEFT", &RowModels::left)
      .def_ro_static("OVERFLOWED", &RowModels::overflowed);
}

}  // namespace thresher
