func.func @main(%q: tensor<?x2x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>, %doc: tensor<?x?xi32>, %m: tensor<?x?xi1>) -> tensor<?x2x?x32xbf16> {
  %o = attn.softmax %q, %k, %v align(top_left) mask(#attn.causal) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %x = tensor.extract %doc[%b, %i] : tensor<?x?xi32>
        %y = tensor.extract %doc[%b, %j] : tensor<?x?xi32>
        %same = arith.cmpi eq, %x, %y : i32
        %z = tensor.extract %m[%i, %j] : tensor<?x?xi1>
        %one = arith.constant 1 : index
        %size = tensor.dim %m, %one : tensor<?x?xi1>
        %in = arith.cmpi ult, %j, %size : index
        %w = arith.xori %z, %in : i1
        %p = arith.ori %same, %w : i1
        attn.yield %p : i1
      } : (tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>) -> tensor<?x2x?x32xbf16>
  return %o : tensor<?x2x?x32xbf16>
}
