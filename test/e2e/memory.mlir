// RUN: %python %S/memory.py attn-run %s

func.func @main(%q: tensor<1x1x?x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %o = attn.softmax %q, %k, %v : (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}
