#!/usr/bin/env bash
# Simulates a small cohort, scans it, and shows the strongest hits beside the simulated truth.
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
