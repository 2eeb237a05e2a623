func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x2xf32>) {
  %c = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%e0 : tensor<3x2xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<2x3xf32>
  %w = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e1 : tensor<2x3xf32>) dimensions = [0]
  %e2 = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%c : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
  %m = linalg.map { arith.addf } ins(%a, %w : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e1 : tensor<2x3xf32>)
  %e3 = tensor.empty() : tensor<2x2xf32>
  %p = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %t : tensor<2x3xf32>, tensor<3x2xf32>) outs(%e3 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %x = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %t, %m, %r, %y, %p : tensor<3x2xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x2xf32>
}
