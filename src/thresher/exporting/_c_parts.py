"""Pieces of C99 that exported models are made of; a file holds those that it uses."""

from __future__ import annotations

HEAD = """\
/* {model}, exported by thresher: C99, standard library only, link with -lm.
   Include this file, or compile it and copy the declarations that follow into a header. Text is UTF-8. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct {name}_row {{
{row}
}};
{prototypes}
"""

PIECES = """\
/* c0 + c1 u + c2 u^2, with u the distance from the knot before x */
static double in_pieces(double x, const double *knots, int n, const double *c) {
  int i = 0, end = n;
  double u;
  while (i < end) {
    const int middle = (i + end) / 2;
    if (x >= knots[middle]) i = middle + 1; else end = middle;
  }
  u = x - knots[i > 0 ? i - 1 : 0];
  c += 3 * i;
  return c[0] + u * (c[1] + u * c[2]);
}
"""

CATEGORY = """\
static void add_category(const char *text, const char *const *values, int n, const double *weights, int n_scores,
                         double *scores) {
  int begin = 0, end = n, k;
  while (begin < end) {
    const int middle = (begin + end) / 2, order = strcmp(text ? text : "", values[middle]);
    if (order == 0) {
      for (k = 0; k < n_scores; ++k) scores[k] += weights[middle * n_scores + k];
      return;
    }
    if (order > 0) begin = middle + 1; else end = middle;
  }
}
"""

DATES = """\
enum date_part { date_month, date_weekday, date_hour };

static void add_date(double days, enum date_part part, const double *weights, const double *missing, int n_scores,
                     double *scores) {
  const double seconds = rint(days * 86400), day = floor(seconds / 86400);
  int place = 0, k;
  if (isnan(days)) {
    for (k = 0; k < n_scores; ++k) scores[k] += missing[k];
    return;
  }
  if (part == date_hour) place = (int)floor((seconds - 86400 * day) / 3600);
  if (part == date_weekday) place = (int)(day + 3 - 7 * floor((day + 3) / 7)); /* 1970 began on a Thursday */
  if (part == date_month) { /* in eras of 400 years, each from March on */
    const int era = (int)(day + 719468 - 146097 * floor((day + 719468) / 146097));
    const int year = (era - era / 1460 + era / 36524 - era / 146096) / 365;
    const int month = (5 * (era - (365 * year + year / 4 - year / 100)) + 2) / 153;
    place = month < 10 ? month + 2 : month - 10;
  }
  for (k = 0; k < n_scores; ++k) scores[k] += weights[place * n_scores + k];
}
"""

HASH = """\
static uint64_t folded_product(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffffu, a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & low);
  return (a1 * b1 + (middle >> 32) + (other >> 32)) ^ (a * b);
}

static uint64_t hash_bytes(const char *p, size_t n, uint64_t seed) {
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15), pi = UINT64_C(0x243f6a8885a308d3);
  uint64_t h = seed ^ golden, word;
  size_t left = n, i, size;
  do {
    size = left < 8 ? left : 8;
    for (word = 0, i = 0; i < size; ++i) word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    h = folded_product(h ^ word, pi);
    p += size;
    left -= size;
  } while (size == 8);
  return folded_product(h ^ n, golden);
}

static uint32_t bucket_of(uint64_t hash, uint64_t n) { return (uint32_t)(((hash >> 32) * n) >> 32); }

/* the place of a bucket in a rising list, -1 if it is not there */
static long listed(uint32_t bucket, const uint32_t *buckets, long n) {
  long begin = 0, end = n;
  while (begin < end) {
    const long middle = (begin + end) / 2;
    if (buckets[middle] == bucket) return middle;
    if (buckets[middle] < bucket) begin = middle + 1; else end = middle;
  }
  return -1;
}
"""

HASHED = """\
static void add_hashed(const char *text, const char *prefix, size_t n_prefix, uint32_t n_buckets,
                       const uint32_t *buckets, long n, const double *weights, int n_scores, double *scores) {
  const char *const there = text ? text : "";
  const uint64_t hash = hash_bytes(there, strlen(there), hash_bytes(prefix, n_prefix, 0));
  const long place = listed(bucket_of(hash, n_buckets), buckets, n);
  int k;
  if (place < 0) return;
  for (k = 0; k < n_scores; ++k) scores[k] += weights[place * n_scores + k];
}
"""

WORDS = """\
/* bytes of a space or a punctuation mark beyond ASCII, else 0 */
static size_t mark(const unsigned char *p) {
  if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0xbf) return 2;
  if (((p[0] == 0xe2 && (p[1] == 0x80 || (p[1] == 0x81 && p[2] <= 0xaf))) || (p[0] == 0xe3 && p[1] == 0x80)) &&
      p[2] >= 0x80 && p[2] <= 0xbf)
    return 3;
  return 0;
}

static int letter(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '\\'' ? c : 0;
}

/* copies the word at *at and moves behind it; its length without outer apostrophes, 0 if it is too short */
static size_t copy_word(const unsigned char **at, char *out) {
  const unsigned char *p = *at;
  size_t length = 0, stop = 0, n_characters = 0;
  while (*p) {
    if (*p < 0x80) {
      const int small = letter(*p);
      if (!small || (small == '\\'' && stop == 0)) break;
      out[length++] = (char)small;
      ++p;
      if (small == '\\'') continue;
    } else {
      if (mark(p)) break;
      do out[length++] = (char)*p++;
      while ((*p & 0xc0) == 0x80);
    }
    ++n_characters;
    stop = length;
  }
  *at = p;
  return n_characters >= 2 ? stop : 0;
}

static int compare_buckets(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* count: 0 as it is, 1 binary, 2 logarithm */
static void add_words(const char *text, const char *prefix, size_t n_prefix, uint32_t n_buckets,
                      const uint32_t *buckets, long n, const double *weights, const double *idf, double other_idf,
                      int pairs, int count, int normalized, int n_scores, double *scores) {
  const unsigned char *p = (const unsigned char *)(text ? text : "");
  const size_t room = strlen((const char *)p) + 1;
  const uint64_t seed = hash_bytes(prefix, n_prefix, 0);
  char *const joined = malloc(room), *out = joined, *before = NULL;
  uint32_t *const found = malloc(2 * room * sizeof *found);
  double *const sums = calloc((size_t)n_scores, sizeof *sums), squares = 0;
  size_t n_found = 0, i, first;
  int k;
  if (joined && found && sums) {
    while (*p) {
      const size_t length = copy_word(&p, out);
      if (length) {
        if (pairs && before)
          found[n_found++] = bucket_of(hash_bytes(before, (size_t)(out + length - before), seed), n_buckets);
        found[n_found++] = bucket_of(hash_bytes(out, length, seed), n_buckets);
        before = out;
        out += length;
        *out++ = ' ';
      }
      if (*p) {
        const size_t size = mark(p);
        p += size ? size : 1;
      }
    }
    qsort(found, n_found, sizeof *found, compare_buckets);
    for (i = 0; i < n_found;) {
      const long place = listed(found[i], buckets, n);
      double value;
      for (first = i; i < n_found && found[i] == found[first];) ++i;
      value = count == 0 ? (double)(i - first) : count == 1 ? 1 : 1 + log((double)(i - first));
      value *= place < 0 ? other_idf : idf[place];
      squares += value * value;
      if (place >= 0)
        for (k = 0; k < n_scores; ++k) sums[k] += value * weights[place * n_scores + k];
    }
  }
  for (k = 0; k < n_scores; ++k) {
    if (!joined || !found || !sums) scores[k] = NAN;
    else scores[k] += normalized && squares > 0 ? sums[k] / sqrt(squares) : sums[k];
  }
  free(joined);
  free(found);
  free(sums);
}
"""

VALUES = """\
double {name}_predict(const struct {name}_row *row) {{
  double score;
  {name}_scores(row, &score);
  return score;
}}
"""

CALIBRATION = """\
struct calibration {
  int n;
  const double *knots, *pieces;
  double unit, tilt;
};

static double log_odds(double score, const struct calibration *how) {
  return in_pieces(score, how->knots, how->n, how->pieces) + how->tilt * asinh(score / how->unit);
}
"""

_CLASS = """\
const char *{name}_class(int number) {{
  static const char *const labels[] = {{{labels}}};
  return number >= 0 && number < {n} ? labels[number] : NULL;
}}
"""

TWO_CLASSES = {
    "predict": _CLASS
    + """
int {name}_predict(const struct {name}_row *row) {{
  double score;
  {name}_scores(row, &score);
  return isnan(score) ? -1 : score > {threshold};
}}
""",
    "probabilities": """
void {name}_probabilities(const struct {name}_row *row, double *probabilities) {{
  double score, odds;
  {name}_scores(row, &score);
  odds = log_odds(score, calibrations);
  probabilities[0] = 1 / (1 + exp(odds));
  probabilities[1] = 1 / (1 + exp(-odds));
}}
""",
}

SEVERAL_CLASSES = {
    "shares": """\
/* probabilities by the lead of each class over the best of the others, raised to the power at which they add up to 1 */
static void to_shares(const double *scores, const struct calibration *how, double *shares) {{
  double logs[{n}], power = 1, total = 0;
  int best = 0, second, step, k;
  for (k = 1; k < {n}; ++k)
    if (scores[k] > scores[best]) best = k;
  second = best == 0;
  for (k = 0; k < {n}; ++k)
    if (k != best && scores[k] > scores[second]) second = k;
  for (k = 0; k < {n}; ++k) {{
    const double odds = log_odds(scores[k] - scores[k == best ? second : best], how + k);
    logs[k] = odds > 0 ? -log1p(exp(-odds)) : odds - log1p(exp(odds));
    if (logs[k] > {certain}) logs[k] = {certain};
  }}
  for (step = 0; step < 100; ++step) {{
    double slope = 0;
    for (total = 0, k = 0; k < {n}; ++k) {{
      shares[k] = exp(power * logs[k]);
      total += shares[k];
      slope += shares[k] * logs[k];
    }}
    if (!(fabs(total - 1) > {near})) break;
    power -= log(total) * total / slope;
    if (power < 0) power = 0;
  }}
  for (k = 0; k < {n}; ++k) shares[k] /= total;
}}

""",
    "predict": _CLASS
    + """
int {name}_predict(const struct {name}_row *row) {{
  double scores[{n}];
  int best = 0, k;
  {name}_scores(row, scores);
  for (k = 0; k < {n}; ++k) {{
    if (isnan(scores[k])) return -1;
    if (scores[k] > scores[best]) best = k;
  }}
  return best;
}}
""",
    "weighed": _CLASS
    + """
int {name}_predict(const struct {name}_row *row) {{
  static const double factors[] = {{{factors}}};
  double scores[{n}], shares[{n}];
  int best = 0, k;
  {name}_scores(row, scores);
  to_shares(scores, decisions, shares);
  for (k = 0; k < {n}; ++k) {{
    if (isnan(shares[k])) return -1;
    if (shares[k] * factors[k] > shares[best] * factors[best]) best = k;
  }}
  return best;
}}
""",
    "probabilities": """
void {name}_probabilities(const struct {name}_row *row, double *probabilities) {{
  double scores[{n}];
  {name}_scores(row, scores);
  to_shares(scores, calibrations, probabilities);
}}
""",
}
