#ifndef TALLELE_ANCESTRY_TRAIN_ADAM_H_
#define TALLELE_ANCESTRY_TRAIN_ADAM_H_

#include <cstdint>
#include <vector>

#include "ancestry/train/float_table.h"

namespace tallele {

// One step of Adam (Kingma and Ba 2015, as PyTorch has it) over some tables, step t from 1:
//   m = 0.9 m + 0.1 g,  v = 0.999 v + 0.001 g^2,
//   p -= rate / (1 - 0.9^t) m / (sqrt(v) / sqrt(1 - 0.999^t) + 1e-8).
void AdamStep(double rate, int64_t step, const std::vector<FloatTable*>& parameters,
              const std::vector<FloatTable*>& gradients, const std::vector<FloatTable*>& first,
              const std::vector<FloatTable*>& second);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_ADAM_H_
