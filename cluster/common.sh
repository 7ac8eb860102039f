# Sourced by the job scripts: says which variables are needed and stops when one is unset.

need() {
  local name missing=0
  for name in "$@"; do
    if [ -z "${!name:-}" ]; then
      echo "Set ${name}: $(describe "$name")" >&2
      missing=1
    fi
  done
  [ "$missing" = 0 ] || exit 2
}

describe() {
  case "$1" in
    TALLELE) echo "the tallele program" ;;
    TALLELE_DATASET) echo "training dataset (HDF5)" ;;
    TALLELE_PARTITION) echo "folds (.npz); prep makes it" ;;
    TALLELE_STATS) echo "means and deviations (.npz); prep makes it" ;;
    TALLELE_EMBEDDING) echo "embedding (.npz); prep makes it" ;;
    TALLELE_CONFIG) echo "settings of the training (YAML)" ;;
    TALLELE_MODELS) echo "output folder of the models" ;;
    TALLELE_SEEDS) echo "seeds with blanks between, as \"78 79 80\"" ;;
    TALLELE_FOLDS) echo "number of folds" ;;
    TALLELE_COHORT) echo "prefix of the PLINK files to score" ;;
    TALLELE_WORK) echo "work folder of match" ;;
    TALLELE_PREDICTIONS) echo "table of predictions to write" ;;
  esac
}
