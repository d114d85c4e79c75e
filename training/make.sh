#!/bin/sh
# Reproduce data, training, export and figures from fixed seeds.
#   WORK=/some/large/folder sh training/make.sh
# Run from the repository root, with the packages of training/requirements.txt
# in the Python named by PYTHON and the typefaces of training/README.md installed.
set -eu
PYTHON=${PYTHON:-python3}
WORK=${WORK:?name a folder with 20 GB of room}
CACHE=$WORK/cache
CHECKPOINTS=$WORK/checkpoints
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

$PYTHON -m training.dataset --out "$CACHE" --worker 0 --clusters 2500 --negatives 2000 &
$PYTHON -m training.dataset --out "$CACHE" --worker 1 --lines 60000
$PYTHON -m training.dataset --out "$CACHE" --worker 1 --gauges 20000 --lamps 32000
# Watching set: the held-out manner with another seed than the test set.
$PYTHON -m training.dataset --out "$CACHE" --split held_out --seed 7 --clusters 120 --negatives 150 --lines 1500 --gauges 800 --lamps 1200 --shard 60
$PYTHON -m training.dataset --out "$CACHE" --worker 1 --clusters 1500 --negatives 1300
wait

$PYTHON -m training.train_text --data "$CACHE" --out "$CHECKPOINTS" --minutes "${TEXT_MINUTES:-40}" &
$PYTHON -m training.train_elements --data "$CACHE" --out "$CHECKPOINTS" --minutes "${ELEMENTS_MINUTES:-40}"
wait
$PYTHON -m training.train_locator --data "$CACHE" --out "$CHECKPOINTS" --minutes "${LOCATOR_MINUTES:-15}" &
$PYTHON -m training.train_lamps --data "$CACHE" --out "$CHECKPOINTS" --minutes "${LAMPS_MINUTES:-8}"
$PYTHON -m training.train_fuel --data "$CACHE" --out "$CHECKPOINTS" --minutes "${FUEL_MINUTES:-8}"
wait

$PYTHON -m training.export --checkpoints "$CHECKPOINTS" --models models
$PYTHON -m training.write_model_json --models models
$PYTHON -m training.render_held_out --seed 515 --count 300 --out "$WORK/held-out"
$PYTHON -m training.evaluate --data "$WORK/held-out" --models models --json "$WORK/held-out.json"
$PYTHON -m training.naive --seed 77 --count 120 --out "$WORK/naive"
$PYTHON -m training.evaluate --data "$WORK/naive" --models models --json "$WORK/naive.json"
$PYTHON -m training.evaluate_lines --models models --count 300 --json "$WORK/lines.json"
$PYTHON -m training.write_cards --models models --held-out "$WORK/held-out.json" --naive "$WORK/naive.json" --lines "$WORK/lines.json"
