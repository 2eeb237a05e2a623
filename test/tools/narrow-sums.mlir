// Sums into f16 and bf16 are rounded once, by every stage and by the reference
// device: as many terms as here would be off by a part in 40 if each of them were
// rounded, with a tolerance of a part in 125.

// RUN: attn-run %s --function=matmul --check --verify-stages --target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --function=batch --check --verify-stages --target=cpu:generic | FileCheck %s
// RUN: attn-run %s --function=dot --check --verify-stages --target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --function=matvec --check --verify-stages --target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --function=reduce --check --verify-stages --target=cpu:avx2 | FileCheck %s
// RUN: attn-run %s --function=contract --check --verify-stages --target=cpu:avx2 | FileCheck %s

// CHECK: check {{.*}}: ok
// CHECK: no stage changes a result

func.func @matmul(%a: tensor<37x900xbf16>, %b: tensor<900x41xbf16>,
                  %c: tensor<37x41xbf16>) -> tensor<37x41xbf16> {
  %r = linalg.matmul ins(%a, %b : tensor<37x900xbf16>, tensor<900x41xbf16>)
      outs(%c : tensor<37x41xbf16>) -> tensor<37x41xbf16>
  return %r : tensor<37x41xbf16>
}

func.func @batch(%a: tensor<3x7x900xf16>, %b: tensor<3x900x5xf16>,
                 %c: tensor<3x7x5xf16>) -> tensor<3x7x5xf16> {
  %r = linalg.batch_matmul
      ins(%a, %b : tensor<3x7x900xf16>, tensor<3x900x5xf16>)
      outs(%c : tensor<3x7x5xf16>) -> tensor<3x7x5xf16>
  return %r : tensor<3x7x5xf16>
}

func.func @dot(%a: tensor<4099xbf16>, %b: tensor<4099xbf16>, %c: tensor<bf16>)
    -> tensor<bf16> {
  %r = linalg.dot ins(%a, %b : tensor<4099xbf16>, tensor<4099xbf16>)
      outs(%c : tensor<bf16>) -> tensor<bf16>
  return %r : tensor<bf16>
}

func.func @matvec(%a: tensor<37x900xbf16>, %b: tensor<900xbf16>,
                  %c: tensor<37xbf16>) -> tensor<37xbf16> {
  %r = linalg.matvec ins(%a, %b : tensor<37x900xbf16>, tensor<900xbf16>)
      outs(%c : tensor<37xbf16>) -> tensor<37xbf16>
  return %r : tensor<37xbf16>
}

func.func @reduce(%a: tensor<900x41xbf16>, %c: tensor<41xbf16>)
    -> tensor<41xbf16> {
  %r = linalg.reduce ins(%a : tensor<900x41xbf16>) outs(%c : tensor<41xbf16>)
      dimensions = [0]
      (%x: bf16, %sum: bf16) {
        %s = arith.addf %x, %sum : bf16
        linalg.yield %s : bf16
      }
  return %r : tensor<41xbf16>
}

func.func @contract(%a: tensor<7x30x31xf16>, %b: tensor<30x31x5xf16>,
                    %c: tensor<7x5xf16>) -> tensor<7x5xf16> {
  %r = linalg.contract
      indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>,
                       affine_map<(i, j, k, l) -> (k, l, j)>,
                       affine_map<(i, j, k, l) -> (i, j)>]
      ins(%a, %b : tensor<7x30x31xf16>, tensor<30x31x5xf16>)
      outs(%c : tensor<7x5xf16>) -> tensor<7x5xf16>
  return %r : tensor<7x5xf16>
}
