// Validation rules for custom resources, each with a schema for `spec` and objects to try. The expected results are not
// listed here: they are those of a real kube-apiserver, and the embedded server must answer the same
// (crdRules.kube.ts).

export interface RuleCase {
  readonly name: string;
  /** Schema of `spec`; its rules are in x-kubernetes-validations, here or deeper. */
  readonly spec: object;
  /** Values of `spec` to create; the pair [before, after] is created and then replaced. */
  readonly tries: readonly (object | readonly [object, object])[];
}

const text = { type: 'string', maxLength: 64 };
const int = { type: 'integer' };
const num = { type: 'number' };
const bool = { type: 'boolean' };
const list = (items: object, more: object = {}) => ({ type: 'array', maxItems: 8, items, ...more });
const map = (values: object) => ({ type: 'object', maxProperties: 8, additionalProperties: values });
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

/** Rules on the spec itself. */
const on = (properties: object, ...rules: (string | object)[]) =>
  object(properties, {
    'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
  });

const c = (name: string, spec: object, ...tries: RuleCase['tries'][number][]): RuleCase => ({
  name,
  spec,
  tries,
});

const ab = { a: int, b: int };

const LANGUAGE: readonly RuleCase[] = [
  c('comparison', on(ab, 'self.a < self.b'), { a: 1, b: 2 }, { a: 2, b: 1 }, { a: 1, b: 1 }),
  c('a missing field is an error', on(ab, 'self.a < self.b'), { a: 1 }),
  c('has() guards a missing field', on(ab, '!has(self.a) || self.a > 3'), {}, { a: 4 }, { a: 3 }),
  c('arithmetic', on(ab, 'self.a + self.b == 10 && self.a * self.b > 20'), { a: 4, b: 6 }, { a: 1, b: 9 }),
  c('division by zero', on(ab, 'self.a / self.b > 1'), { a: 4, b: 0 }, { a: 4, b: 2 }),
  c('integer overflow', on(ab, 'self.a + self.b > 0'), { a: 9223372036854774000, b: 9223372036854774000 }),
  c('modulo', on(ab, 'self.a % self.b == 0'), { a: 9, b: 3 }, { a: 10, b: 3 }, { a: 1, b: 0 }),
  c('doubles', on({ x: num }, 'self.x > 0.5'), { x: 0.6 }, { x: 0.5 }, { x: 1 }),
  c('mixed number types do not compile', on({ x: num, a: int }, 'self.x == self.a'), { x: 1, a: 1 }),
  c('cross-type ordering', on({ x: num, a: int }, 'self.x < double(self.a)'), { x: 1, a: 2 }),
  c('booleans', on({ p: bool, q: bool }, 'self.p || self.q'), { p: true, q: false }, { p: false, q: false }),
  c('errors are absorbed by or', on(ab, 'self.a == 1 || self.b == 1'), { a: 1 }, { b: 1 }, { a: 2 }),
  c('conditional', on(ab, 'self.a > 5 ? self.b > 5 : self.b < 5'), { a: 6, b: 6 }, { a: 1, b: 6 }),
  c(
    'strings',
    on({ s: text }, "self.s.startsWith('a') && self.s.endsWith('z') && self.s.contains('m')"),
    { s: 'amz' },
    { s: 'az' },
  ),
  c('size of a string counts code points', on({ s: text }, 'size(self.s) == 2'), { s: 'é😀' }, { s: 'abc' }),
  c('matches', on({ s: text }, "self.s.matches('^[a-z]+$')"), { s: 'abc' }, { s: 'a1' }),
  c('a bad pattern does not compile', on({ s: text }, "self.s.matches('[')"), { s: 'a' }),
  c(
    'concatenation',
    on({ s: text, t: text }, "self.s + '-' + self.t == 'a-b'"),
    { s: 'a', t: 'b' },
    { s: 'b', t: 'a' },
  ),
  c('in a list', on({ s: text }, "self.s in ['a', 'b']"), { s: 'a' }, { s: 'c' }),
  c(
    'type conversions',
    on({ s: text }, "int(self.s) > 3 && string(1) == '1'"),
    { s: '4' },
    { s: '3' },
    { s: 'x' },
  ),
  c('type()', on({ a: int }, 'type(self.a) == int'), { a: 1 }),
  c('undefined field', on(ab, 'self.c == 1'), {}),
  c('undefined function', on(ab, 'foo(self.a)'), {}),
  c('wrong argument types', on({ s: text }, 'self.s + 1 == 2'), {}),
  c('not a boolean', on(ab, 'self.a'), {}),
  c('a syntax error', on(ab, 'self.a <'), {}),
  c('an unterminated string', on({ s: text }, "self.s == 'a"), {}),
  c('two errors at once', on(ab, 'self.c == self.d'), {}),
  c('an unknown variable', on(ab, 'other.a == 1'), {}),
];

const LISTS: readonly RuleCase[] = [
  c('all', on({ l: list(int) }, 'self.l.all(x, x > 0)'), { l: [1, 2] }, { l: [0] }, { l: [] }),
  c('exists', on({ l: list(int) }, 'self.l.exists(x, x == 3)'), { l: [1, 3] }, { l: [1] }),
  c('exists_one', on({ l: list(int) }, 'self.l.exists_one(x, x == 3)'), { l: [3] }, { l: [3, 3] }),
  c(
    'filter and map',
    on({ l: list(int) }, 'self.l.filter(x, x > 1).map(x, x * 2) == [4, 6]'),
    { l: [1, 2, 3] },
    { l: [1] },
  ),
  c('index out of range', on({ l: list(int) }, 'self.l[2] == 1'), { l: [1] }, { l: [0, 0, 1] }),
  c(
    'list functions',
    on({ l: list(int) }, 'self.l.isSorted() && self.l.sum() < 10 && self.l.max() < 6 && self.l.min() > 0'),
    { l: [1, 2, 5] },
    { l: [2, 1] },
    { l: [] },
  ),
  c(
    'indexOf',
    on({ l: list(text) }, "self.l.indexOf('b') == 1 && self.l.lastIndexOf('b') == 2"),
    { l: ['a', 'b', 'b'] },
    { l: ['b'] },
  ),
  c(
    'sets compare in any order',
    on({ l: list(text, { 'x-kubernetes-list-type': 'set' }) }, "self.l == ['a', 'b']"),
    { l: ['b', 'a'] },
    { l: ['a'] },
  ),
  c(
    'unbounded lists inside each other cost too much',
    on(
      { l: { type: 'array', items: { type: 'array', items: { type: 'string' } } } },
      'self.l.all(x, x.all(y, self.l.all(z, z.all(w, w == y))))',
    ),
    {},
  ),
  c(
    'rules on items',
    object({
      l: list({ ...int, 'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }] }),
    }),
    { l: [2, 4] },
    { l: [2, 3, 5] },
  ),
  c(
    'maps',
    on({ m: map(int) }, "self.m.all(k, self.m[k] > 0) && 'a' in self.m"),
    { m: { a: 1 } },
    { m: { b: 1 } },
    { m: { a: 0 } },
  ),
  c(
    'rules on map values',
    object({ m: map({ ...text, 'x-kubernetes-validations': [{ rule: "self != 'x'" }] }) }),
    { m: { k: 'y' } },
    { m: { k: 'y', 'odd.key': 'x' } },
  ),
  c('a missing key', on({ m: map(int) }, "self.m['a'] == 1"), { m: {} }, { m: { a: 1 } }),
  c(
    'two-variable macros',
    on({ m: map(int) }, 'self.m.all(k, v, v < 3 && size(k) == 1)'),
    { m: { a: 1 } },
    { m: { a: 5 } },
  ),
];

const LIBRARIES: readonly RuleCase[] = [
  c(
    'durations',
    on({ d: { type: 'string', format: 'duration' } }, "self.d <= duration('1h')"),
    { d: '30m' },
    { d: '2h' },
    { d: 'soon' },
  ),
  c(
    'timestamps',
    on({ t: { type: 'string', format: 'date-time' } }, "self.t >= timestamp('2020-01-01T00:00:00Z')"),
    { t: '2024-01-01T00:00:00Z' },
    { t: '2019-12-31T23:59:59Z' },
  ),
  c(
    'dates',
    on({ t: { type: 'string', format: 'date' } }, "self.t >= timestamp('2020-01-01T00:00:00Z')"),
    { t: '2024-01-01' },
    { t: '2019-12-31' },
  ),
  c(
    'accessors of time',
    on(
      { t: { type: 'string', format: 'date-time' } },
      'self.t.getFullYear() == 2024 && self.t.getMonth() == 0',
    ),
    { t: '2024-01-05T00:00:00Z' },
    { t: '2024-02-05T00:00:00Z' },
  ),
  c(
    'quantities',
    on({ q: text }, "isQuantity(self.q) && quantity(self.q).isLessThan(quantity('1Gi'))"),
    { q: '500Mi' },
    { q: '2Gi' },
    { q: 'lots' },
  ),
  c(
    'urls',
    on({ u: text }, "isURL(self.u) && url(self.u).getScheme() == 'https'"),
    { u: 'https://example.com/x' },
    { u: 'http://example.com' },
    { u: 'not a url' },
  ),
  c(
    'ip addresses',
    on({ i: text }, 'isIP(self.i) && ip(self.i).family() == 4'),
    { i: '10.0.0.1' },
    { i: '::1' },
    { i: '10.0.0' },
  ),
  c(
    'cidrs',
    on({ i: text }, "isIP(self.i) && cidr('10.0.0.0/8').containsIP(self.i)"),
    { i: '10.1.2.3' },
    { i: '11.0.0.1' },
  ),
  c('find', on({ s: text }, "self.s.find('[0-9]+') == '12'"), { s: 'ab12cd34' }, { s: 'none' }),
  c(
    'string extensions',
    on({ s: text }, "self.s.lowerAscii().split(',').size() == 2 && self.s.trim() == self.s"),
    { s: 'A,B' },
    { s: 'A' },
    { s: ' A,B' },
  ),
  c(
    'format',
    on({ s: text }, '!format.dns1123Label().validate(self.s).hasValue()'),
    { s: 'good-name' },
    { s: 'Bad_Name' },
  ),
  c('optionals', on({ a: int }, 'self.?a.orValue(5) == 5'), {}, { a: 5 }, { a: 6 }),
  c(
    'semver',
    on({ s: text }, "isSemver(self.s) && semver(self.s).isGreaterThan(semver('1.2.3'))"),
    { s: '1.3.0' },
    { s: '1.0.0' },
    { s: 'v1' },
  ),
];

const RULES: readonly RuleCase[] = [
  c('a message', on(ab, { rule: 'self.a < self.b', message: 'a must be less' }), { a: 2, b: 1 }),
  c(
    'a computed message',
    on({ s: text }, { rule: "self.s == 'ok'", messageExpression: "'got ' + self.s" }),
    { s: 'bad' },
    { s: 'ok' },
  ),
  c(
    'a computed message that fails falls back',
    on(ab, {
      rule: 'self.a == 1',
      message: 'static',
      messageExpression: 'string(self.a / (self.a - self.a))',
    }),
    { a: 2, b: 1 },
  ),
  c(
    'a computed message that is not a text',
    on(ab, { rule: 'self.a == 1', messageExpression: 'self.a' }),
    {},
  ),
  c('reasons', on(ab, { rule: 'self.a == 1', reason: 'FieldValueForbidden', message: 'no' }), { a: 2 }),
  c('an unknown reason', on(ab, { rule: 'self.a == 1', reason: 'Nope' }), {}),
  c('fieldPath', on(ab, { rule: 'self.a == 1', fieldPath: '.a', message: 'wrong' }), { a: 2 }),
  c('a fieldPath that leads nowhere', on(ab, { rule: 'self.a == 1', fieldPath: '.c' }), {}),
  c('an empty rule', on(ab, { rule: ' ' }), {}),
  c('a message with a line break', on(ab, { rule: 'self.a == 1', message: 'a\nb' }), {}),
  c(
    'immutable',
    object({
      a: { ...text, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'immutable' }] },
    }),
    [{ a: 'x' }, { a: 'y' }],
    [{ a: 'x' }, { a: 'x' }],
    [{}, { a: 'x' }],
    [{ a: 'x' }, {}],
  ),
  c('only up', on({ a: int }, 'self.a >= oldSelf.a'), [{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }]),
  c(
    'optional oldSelf',
    object({
      a: {
        ...int,
        'x-kubernetes-validations': [{ rule: 'self == 1 || oldSelf.hasValue()', optionalOldSelf: true }],
      },
    }),
    { a: 2 },
    [{ a: 1 }, { a: 2 }],
  ),
  c('optionalOldSelf without oldSelf', on(ab, { rule: 'self.a == 1', optionalOldSelf: true }), {}),
  c(
    'oldSelf where elements have no counterpart',
    object({ l: list({ ...text, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] }) }),
    {},
  ),
  c(
    'oldSelf in a keyed list',
    object({
      l: list(
        object(
          { k: text, v: int },
          { required: ['k'], 'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v' }] },
        ),
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      ),
    }),
    [
      { l: [{ k: 'a', v: 2 }] },
      {
        l: [
          { k: 'b', v: 0 },
          { k: 'a', v: 1 },
        ],
      },
    ],
    [{ l: [{ k: 'a', v: 2 }] }, { l: [{ k: 'b', v: 0 }] }],
  ),
  c(
    'reserved and odd names',
    on(
      { in: int, 'a-b': int, 'x.y': int },
      'self.__in__ == 1 && self.a__dash__b == 2 && self.x__dot__y == 3',
    ),
    { in: 1, 'a-b': 2, 'x.y': 3 },
    { in: 2, 'a-b': 2, 'x.y': 3 },
  ),
  c(
    'int-or-string',
    on(
      { p: { 'x-kubernetes-int-or-string': true } },
      "type(self.p) == string ? self.p == '50%' : self.p < 5",
    ),
    { p: 4 },
    { p: 5 },
    { p: '50%' },
    { p: '1%' },
  ),
  c(
    'a nullable field',
    on({ a: { ...int, nullable: true } }, '!has(self.a) || self.a == null || self.a > 1'),
    { a: null },
    { a: 2 },
    { a: 1 },
  ),
  c('several rules fail together', on(ab, 'self.a > 1', { rule: 'self.b > 1', message: 'second' }), {
    a: 0,
    b: 0,
  }),
];

export const RULE_CASES: readonly RuleCase[] = [...LANGUAGE, ...LISTS, ...LIBRARIES, ...RULES];
