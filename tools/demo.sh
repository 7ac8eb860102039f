#!/usr/bin/env bash
# Simulates a small cohort, scans it, and shows the strongest hits beside the simulated truth; then
# trains small ancestry models on a simulated panel and calls other people's populations with them.
# usage: demo.sh TALLELE FOLDER
set -euo pipefail
tallele=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

echo "== A made-up cohort: 4,000 people, 5,000 imputed variants"
"$tallele" simulate --out "$folder/cohort" --people 4000 --variants 5000 --array-variants 500 \
  --quantitative 2 --binary 0 --causal 20 --seed 11 >"$folder/simulate.txt"
head -1 "$folder/simulate.txt"

echo
echo "== The scan"
"$tallele" regenie --bgen "$folder/cohort.bgen" --sample "$folder/cohort.sample" --ref-first \
  --phenoFile "$folder/cohort_pheno.tsv" --phenoColList QT1,QT2 \
  --covarFile "$folder/cohort_covar.tsv" --catCovarList batch \
  --pred "$folder/cohort_pred.list" --format both --out "$folder/scan"

for trait in QT1 QT2; do
  echo
  echo "== $trait: strongest hits, and the simulated effect where the variant is causal"
  awk -v trait="$trait" '
    NR == FNR { if ($1 == trait) effect[$4] = $6; next }
    FNR > 1 && $13 != "NA" { print $13, $1, $2, $3, $10, ($3 in effect) ? effect[$3] : "-" }
  ' "$folder/cohort_truth.tsv" "$folder/scan_$trait.regenie" | sort -k1,1gr -s | awk "NR <= 8" |
    awk 'BEGIN { printf "%8s %6s %10s %-10s %10s %22s\n", "LOG10P", "CHROM", "GENPOS", "ID",
                 "BETA", "simulated effect (SD)" }
         { printf "%8.2f %6s %10s %-10s %10s %22s\n", $1, $2, $3, $4, $5, $6 }'
done
echo
echo "Results: $folder/scan.tallele (Parquet) and $folder/scan_QT1.regenie, scan_QT2.regenie"

echo
echo "== Ancestry: a reference panel of 24 populations, and other people from the same populations"
"$tallele" simulate ancestry --out "$folder/panel" --snps 2000 --fst 0.015 --size-factor 0.6 | sed -n 1p
"$tallele" simulate ancestry --out "$folder/people" --snps 2000 --fst 0.015 --size-factor 0.2 \
  --people-seed 2 | sed -n 1p

echo
echo "== A small model for each of two folds of the panel"
"$tallele" dietnet create-dataset --plink "$folder/panel" --labels "$folder/panel_labels.tsv" \
  --out "$folder/panel.h5"
"$tallele" dietnet partition --dataset "$folder/panel.h5" --balance-class --seed 124 \
  --out "$folder/folds.npz"
cat >"$folder/train.yaml" <<END
batch_size: 32
epochs: 50
patience: 50
input_dropout: 0.6
dropout_main: 0.1
lr_aux: 0.002
lr_main: 0.002
learning_rate_annealing: 0.99
nb_hidden_u_aux: [100, 100]
nb_hidden_u_main: [100]
uniform_init_limit: 0.02
END
"$tallele" dietnet train --dataset "$folder/panel.h5" --partition "$folder/folds.npz" \
  --config "$folder/train.yaml" --seeds 78 --folds 0,1 --out "$folder/models" \
  >"$folder/train.txt"
sed -n '1,/^Test accuracy/p' "$folder/train.txt"

echo
echo "== The other people, lined up with the models and called"
"$tallele" dietnet match --model "$folder/models" --plink "$folder/people" \
  --work-dir "$folder/matched" | sed -n 1p
"$tallele" dietnet predict --model "$folder/models" --work-dir "$folder/matched" \
  --out "$folder/ancestry.tsv" >"$folder/predict.txt"
head -1 "$folder/predict.txt"

echo
echo "== Their calls beside the simulated truth"
"$tallele" dietnet check --predictions "$folder/ancestry.tsv" --labels "$folder/people_labels.tsv" \
  --min-accuracy 0.8 --out "$folder/accuracy.txt"
echo "Results: $folder/ancestry.tsv; each population and the confusion table: $folder/accuracy.txt"
