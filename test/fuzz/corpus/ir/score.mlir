func.func @main(%q: tensor<1x3x?x8xf32>, %k: tensor<1x3x?x8xf32>, %v: tensor<1x3x?x8xf32>, %slopes: tensor<3xf32>) -> tensor<1x3x?x8xf32> {
  %o = attn.softmax %q, %k, %v align(top_left) score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        %slope = tensor.extract %slopes[%h] : tensor<3xf32>
        %d = arith.subi %j, %i : index
        %n = arith.index_cast %d : index to i64
        %f = arith.sitofp %n : i64 to f32
        %x = arith.mulf %slope, %f : f32
        %y = math.tanh %x : f32
        %t = arith.addf %s, %y : f32
        attn.yield %t : f32
      } : (tensor<1x3x?x8xf32>, tensor<1x3x?x8xf32>, tensor<1x3x?x8xf32>) -> tensor<1x3x?x8xf32>
  return %o : tensor<1x3x?x8xf32>
}
