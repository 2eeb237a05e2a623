// One batch entry, head, token and feature: the loop over tiles has one
// iteration, known to the compiler. Each result is written whole, over memory
// that holds something else. With q = 1, k = 2 and v = 3 the state is k v = 6
// beside the sum of keys, 2, and the output is 1 * 6 / (1 * 2) = 3.

// DEFINE: %{target} = --device=reference
// DEFINE: %{form} = auto
// DEFINE: %{run} = env MALLOC_PERTURB_=165 attn-run %s --no-cache %{target} --linear-form=%{form} --input=1x1x1x1xf32=1 --input=1x1x1x1xf32=2
// DEFINE: %{one} = --input=1x1x1x1xf32=3 --expect=1x1x1x1xf32=3 --expect=1x1x1x2xf32=6,2
// DEFINE: %{wide} = --input=1x1x1x5xf32=3 --expect=1x1x1x5xf32=3 --expect=1x1x1x6xf32=6,6,6,6,6,2
// DEFINE: %{cases} = %{run} --function=causal %{one} && %{run} --function=feature %{one} && %{run} --function=all %{one} && %{run} --function=segments %{one} && %{run} --function=wide %{wide}

// RUN: %{cases}
// REDEFINE: %{target} = --target=cpu:generic
// REDEFINE: %{form} = chunk
// RUN: %{cases}
// REDEFINE: %{form} = quadratic
// RUN: %{cases}
// REDEFINE: %{form} = recurrent
// RUN: %{cases}
// REDEFINE: %{target} = --target=host
// RUN: %{cases}
// REDEFINE: %{form} = chunk
// RUN: %{cases}
// REDEFINE: %{form} = quadratic
// RUN: %{cases}

func.func @causal(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(token) causal : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>)
  return %o, %s : tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>
}

func.func @feature(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(feature) causal : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>)
  return %o, %s : tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>
}

func.func @all(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(token) : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>)
  return %o, %s : tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>
}

func.func @segments(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(token) causal {attn.segments = 2} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>)
  return %o, %s : tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>
}

// The columns of the values are not whole vectors.
func.func @wide(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x5xf32>) -> (tensor<1x1x1x5xf32>, tensor<1x1x1x6xf32>) {
  %o, %s = attn.linear %q, %k, %v normalize(token) causal : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x5xf32>) -> (tensor<1x1x1x5xf32>, tensor<1x1x1x6xf32>)
  return %o, %s : tensor<1x1x1x5xf32>, tensor<1x1x1x6xf32>
}
