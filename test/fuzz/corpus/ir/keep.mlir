func.func @main(%q: tensor<?x2x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>) -> tensor<?x2x?x32xf32> {
  %o = attn.softmax %q, %k, %v align(bottom_right) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %zero = arith.constant 0 : index
        %four = arith.constant 4 : index
        %size = arith.constant 128 : index
        %d = arith.subi %i, %j : index
        %past = arith.cmpi sge, %d, %zero : index
        %x = arith.divsi %i, %size : index
        %y = arith.floordivsi %j, %size : index
        %same = arith.cmpi eq, %x, %y : index
        %m = arith.remsi %d, %four : index
        %every = arith.cmpi ne, %m, %zero : index
        %both = arith.andi %past, %every : i1
        %p = arith.select %same, %past, %both : i1
        attn.yield %p : i1
      } : (tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>) -> tensor<?x2x?x32xf32>
  return %o : tensor<?x2x?x32xf32>
}
