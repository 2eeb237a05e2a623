"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x4x5x8xf32>, tensor<1x2x9x8xf32>, tensor<1xi64>) -> tensor<1x4x5x8xf32>, sym_name = "main"}> ({
  ^bb0(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x9x8xf32>, %n: tensor<1xi64>):
    %o = "attn.gqa"(%q, %k, %k, %n) <{align = #attn<alignment bottom_right>, mask = [#attn.causal], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, scale = 5.000000e-01 : f64}> ({
    }, {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %c = "arith.cmpi"(%i, %j) <{predicate = 5 : i64}> : (index, index) -> i1
      "attn.yield"(%c) : (i1) -> ()
    }) : (tensor<1x4x5x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1xi64>) -> tensor<1x4x5x8xf32>
    "func.return"(%o) : (tensor<1x4x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
