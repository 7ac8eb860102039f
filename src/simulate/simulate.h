#ifndef TALLELE_SIMULATE_SIMULATE_H_
#define TALLELE_SIMULATE_SIMULATE_H_

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "simulate/simulation_request.h"

namespace tallele {

// Writes a simulated cohort: genotypes, traits with their truth, covariates and predictions.
// The bytes depend on the request alone, not on the number of threads. Every file appears
// under its name only when it is complete. Errors: kUsage for an impossible request, kIo,
// kInterrupted when `cancel` fired.
Result<SimulationSummary> Simulate(const SimulationRequest& request, EventSink& events,
                                   const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_SIMULATE_H_
