// RUN: rm -rf %t && attn-opt %s --attn-dump-stage='folder=%t stage=tile' -o /dev/null
// RUN: FileCheck %s < %t/2-tile.mlir
// RUN: not attn-opt %s --attn-dump-stage='folder=%s stage=tile' 2>&1 | FileCheck %s --check-prefix=INVALID

// INVALID: option 'dump': expected a folder to write to, got

// CHECK: func.func @is_written
func.func @is_written() {
  return
}
