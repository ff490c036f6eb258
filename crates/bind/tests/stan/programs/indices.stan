// Indices: ranges, lists, containers of containers, assignment to parts.
data {
  int N;
  array[N] int g;
  matrix[3, 2] x;
}
parameters {
  vector[5] v;
  matrix[3, 4] m;
  array[3] vector[2] a;
  array[2, 3] real t;
  array[2] matrix[2, 2] mm;
}
model {
  vector[N] picked = v[g];
  matrix[3, 4] n = m;
  n[2] = v[1 : 4]';
  n[ : , 3] = a[3][1] * m[ : , 1];
  n[1, 2 : 3] += [0.5, v[5]];
  picked[2 : 3] = a[1];
  array[3] vector[2] c = a;
  c[2] = a[1] + x[2]';
  c[1][2] *= 2;
  target += -dot_self(picked) - 0.5 * sum(square(n)) - dot_self(c[1]) - dot_self(c[2]) + c[3, 1] * c[1, 2];
  target += t[1, 2] * t[2, 3] + sum(t[2]) - dot_self(to_vector(t[1])) - dot_self(to_vector(t[2]));
  target += sum(m[g[1 : 2], g[3 : 4]]) + sum(m[2 : , : 2]) + m[3, 4] * v[3] + sum(mm[1] * mm[2]) - sum(square(mm[2])) - sum(square(mm[1]));
  target += -dot_self(v) - dot_self(to_vector(m)) - dot_self(a[2]) - dot_self(a[3]);
  for (row in 1 : 3) {
    for (e in a[row]) {
      target += 0.1 * row * e;
    }
  }
  for (i in 1 : N) {
    target += 0.1 * v[g[i]] * m[g[i], g[N - i + 1]];
  }
}
