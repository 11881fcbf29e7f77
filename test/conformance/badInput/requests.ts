// Requests of a careless or hostile client. `{{ns}}` is the namespace of the test, which holds one ConfigMap, `kept`,
// and one Widget, `kept`. No request here may change them or add objects.

export interface BadRequest {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Uint8Array;
}

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const widgets = '/apis/bad.example.com/v1/namespaces/{{ns}}/widgets';

const post = (body: string | Uint8Array, path = maps, type = 'application/json'): BadRequest => ({
  method: 'POST',
  path,
  type,
  body,
});
const get = (path: string): BadRequest => ({ method: 'GET', path });
const patch = (type: string, body: string, path = `${maps}/kept`): BadRequest => ({
  method: 'PATCH',
  path,
  type: `application/${type}`,
  body,
});
const map = (rest: string, metadata = '"name":"bad"') =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{${metadata}}${rest}}`;
const named = (name: string) => map('', `"name":${JSON.stringify(name)}`);
const widget = (spec: string) =>
  `{"apiVersion":"bad.example.com/v1","kind":"Widget","metadata":{"name":"bad"},"spec":${spec}}`;
const job = (spec: string) =>
  `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"bad"},"spec":{${spec},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}`;

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const bytes = (before: string, odd: number[], after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from(odd), Buffer.from(after)]);
const aliases = [
  'a: &a ["x","x","x","x","x","x","x","x","x"]',
  ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
].join('\n');

export const BAD_REQUESTS: Readonly<Record<string, BadRequest>> = {
  'JSON that ends too early': post('{"apiVersion":"v1","kind":"ConfigMap"'),
  'text that is not JSON': post('hello'),
  'an empty body': post(''),
  'a list instead of an object': post('[]'),
  'a number instead of an object': post('12'),
  'null instead of an object': post('null'),
  'something after the object': post(`${map('')} x`),
  'a comment in JSON': post('/* hi */ {}'),
  'YAML that cannot be parsed': post('a: [', maps, 'application/yaml'),
  'YAML whose aliases expand to billions of elements': post(aliases, maps, 'application/yaml'),
  'an unknown media type': post(map(''), maps, 'application/x-hello'),
  'protobuf that is only the magic number': post('k8s\0', maps, 'application/vnd.kubernetes.protobuf'),
  'protobuf with a length beyond the end': post(
    'k8s\0\x0a\xff\xff\x03',
    maps,
    'application/vnd.kubernetes.protobuf',
  ),
  'protobuf without the magic number': post('hello', maps, 'application/vnd.kubernetes.protobuf'),

  'a number where a text belongs': post(map(',"data":{"k":1}')),
  'a text where an object belongs': post('{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}'),
  'a list where a map belongs': post(map('', '"name":"bad","labels":[]')),
  'a text where a number belongs': post(job('"parallelism":"two"'), jobs),
  'a fraction where an integer belongs': post(job('"parallelism":1.5'), jobs),
  'an integer that does not fit 32 bits': post(job('"parallelism":99999999999'), jobs),
  'an integer that does not fit 64 bits': post(job('"activeDeadlineSeconds":99999999999999999999'), jobs),
  'a number beyond every float': post(job('"parallelism":1e400'), jobs),
  'a text where a number belongs, custom': post(widget('{"n":"two"}'), widgets),
  'a fraction where an integer belongs, custom': post(widget('{"n":1.5}'), widgets),
  'an object where a number belongs, custom': post(widget('{"n":{}}'), widgets),

  'an unknown field, strict': post(map(',"dada":{}'), `${maps}?fieldValidation=Strict`),
  'an unknown field of metadata, strict': post(
    map('', '"name":"bad","nom":"x"'),
    `${maps}?fieldValidation=Strict`,
  ),
  'an unknown field, custom, strict': post(widget('{"m":1}'), `${widgets}?fieldValidation=Strict`),
  'a key twice, strict': post(map(',"data":{"k":"1","k":"2"}'), `${maps}?fieldValidation=Strict`),
  'a key twice, custom, strict': post(widget('{"n":1,"n":2}'), `${widgets}?fieldValidation=Strict`),
  'a key twice in YAML, strict': post(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata:\n  k: "1"\n  k: "2"\n',
    `${maps}?fieldValidation=Strict`,
    'application/yaml',
  ),
  'fieldValidation that is no such thing': post(map(''), `${maps}?fieldValidation=Sometimes`),
  '__proto__ as a field, strict': post(
    map(',"__proto__":{"polluted":true}'),
    `${maps}?fieldValidation=Strict`,
  ),
  '__proto__ as a field of a custom resource, strict': post(
    widget('{"n":1,"__proto__":{"polluted":true}}'),
    `${widgets}?fieldValidation=Strict`,
  ),
  'constructor as a field, strict': post(
    map(',"constructor":{"prototype":{}}'),
    `${maps}?fieldValidation=Strict`,
  ),
  '__proto__ as a label': post(map('', '"name":"bad","labels":{"__proto__":"x"}')),
  '__proto__ as a number': post(job('"parallelism":{"__proto__":1}'), jobs),
  '__proto__ as the kind': post('{"apiVersion":"v1","kind":"__proto__","metadata":{"name":"bad"}}'),
  'constructor as the resource': get('/api/v1/namespaces/{{ns}}/constructor'),
  '__proto__ as the group': get('/apis/__proto__/v1/namespaces/{{ns}}/things'),
  '__proto__ as a field selector': get(`${maps}?fieldSelector=__proto__%3Dx`),
  '__proto__ in a JSON patch path': patch(
    'json-patch+json',
    '[{"op":"add","path":"/__proto__/polluted","value":"x"}]',
  ),

  'a body of more than 3 MiB': post(map(`,"data":{"k":"${'a'.repeat(3 * 1024 * 1024)}"}`)),
  'lists 20,000 levels deep': post(map(`,"data":${nested(20_000)}`)),
  'lists 20,000 levels deep in a custom resource': post(widget(`{"any":${nested(20_000)}}`), widgets),
  'YAML 20,000 levels deep': post(nested(20_000), maps, 'application/yaml'),
  'annotations of more than 256 KiB': post(
    map('', `"name":"bad","annotations":{"k":"${'a'.repeat(300_000)}"}`),
  ),
  'data of more than 1 MiB': post(map(`,"data":{"k":"${'a'.repeat(1_100_000)}"}`)),

  'NUL in the name': post(named('a\0b')),
  'NUL in a label': post(map('', '"name":"bad","labels":{"a":"b\\u0000"}')),
  'a bare NUL byte in a text': post(map(',"data":{"k":"a\0b"}')),
  'a bare newline in a text': post(map(',"data":{"k":"a\nb"}')),
  'bytes that are not UTF-8 in the name': post(
    bytes('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"', [0xff, 0xfe], '"}}'),
  ),
  'bytes that are not UTF-8 outside texts': post(bytes('{', [0xff], '}')),
  'half a surrogate pair in the name': post(map('', '"name":"\\ud800"')),
  'UTF-16 with a byte order mark': post(Buffer.from(`\ufeff${map('')}`, 'utf16le')),

  'a name of two dots': post(named('..')),
  'a name of one dot': post(named('.')),
  'a name with a slash': post(named('a/b')),
  'a name with an encoded slash': post(named('a%2fb')),
  'a name with capitals': post(named('Bad')),
  'a name of 254 characters': post(named('a'.repeat(254))),
  'no name at all': post(map('', '')),
  'a namespace that is not the one of the path': post(map('', '"name":"bad","namespace":"default"')),
  'an encoded slash in the path': get(`${maps}/kept%2fstatus`),
  'two dots in the path': get(`${maps}/..`),
  'two encoded dots in the path': get(`${maps}/%2e%2e`),
  'an escape that is none in the path': get(`${maps}/%zz`),
  'a name in the path that no object can have': get(`${maps}/A_B`),
  'NUL in the path': get(`${maps}/a%00b`),

  'a negative limit': get(`${maps}?limit=-1`),
  'a limit that is no number': get(`${maps}?limit=many`),
  'a continue token that is none': get(`${maps}?limit=1&continue=bogus`),
  'a continue token with other contents': get(
    `${maps}?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":-5,"start":"../x"}').toString('base64url')}`,
  ),
  'a continue token with a resourceVersion': get(`${maps}?continue=bogus&resourceVersion=1`),
  'a resourceVersion that is no number': get(`${maps}?resourceVersion=abc`),
  'a negative resourceVersion': get(`${maps}?resourceVersion=-1`),
  'a resourceVersionMatch that is none': get(`${maps}?resourceVersion=1&resourceVersionMatch=Maybe`),
  'a label selector that is none': get(`${maps}?labelSelector=a%20in%20b`),
  'a field selector that is none': get(`${maps}?fieldSelector=a`),
  'an escape that is none in the query': get(`${maps}?labelSelector=%zz`),
  'a timeout that is no number': get(`${maps}?watch=1&timeoutSeconds=soon`),
  'watch that is neither true nor false': get(`${maps}?watch=perhaps&timeoutSeconds=1`),
  'dryRun that is no such thing': post(map(''), `${maps}?dryRun=Some`),
  'a field manager that is too long': post(map(''), `${maps}?fieldManager=${'m'.repeat(200)}`),
  'a field manager with a control character': post(map(''), `${maps}?fieldManager=a%01`),

  'a JSON patch that is not JSON': patch('json-patch+json', '[{'),
  'a JSON patch that is an object': patch('json-patch+json', '{"op":"add"}'),
  'a JSON patch with an unknown operation': patch('json-patch+json', '[{"op":"jump","path":"/data"}]'),
  'a JSON patch without a path': patch('json-patch+json', '[{"op":"add","value":1}]'),
  'a JSON patch of a path that is not there': patch(
    'json-patch+json',
    '[{"op":"remove","path":"/data/none/at/all"}]',
  ),
  'a JSON patch with a test that fails': patch(
    'json-patch+json',
    '[{"op":"test","path":"/data/k","value":"x"}]',
  ),
  'a JSON patch of 10,001 operations': patch(
    'json-patch+json',
    `[${Array(10_001).fill('{"op":"add","path":"/data/k","value":"x"}').join(',')}]`,
  ),
  'a JSON patch that doubles until it is huge': patch(
    'json-patch+json',
    `[${Array.from({ length: 60 }, (_, i) => `{"op":"copy","from":"/data","path":"/data/k${i}"}`).join(',')}]`,
  ),
  'a merge patch that is a list': patch('merge-patch+json', '[]'),
  'a merge patch that is not JSON': patch('merge-patch+json', '{"data":'),
  'a merge patch with a wrong type': patch('merge-patch+json', '{"data":{"k":1}}'),
  'a merge patch of the name': patch('merge-patch+json', '{"metadata":{"name":"other"}}'),
  'a merge patch of the uid': patch(
    'merge-patch+json',
    '{"metadata":{"uid":"00000000-0000-4000-8000-000000000000"}}',
  ),
  'a strategic patch that is not JSON': patch('strategic-merge-patch+json', '{'),
  'a strategic patch with an unknown directive': patch(
    'strategic-merge-patch+json',
    '{"data":{"$patch":"explode"}}',
  ),
  'a strategic patch of a custom resource': patch(
    'strategic-merge-patch+json',
    '{"spec":{"n":2}}',
    `${widgets}/kept`,
  ),
  'a patch of an unknown type': patch('x-patch', '{}'),

  'delete options that are not JSON': { ...post('{', `${maps}/kept`), method: 'DELETE' },
  'delete options of another kind': {
    ...post('{"apiVersion":"v1","kind":"ConfigMap"}', `${maps}/kept`),
    method: 'DELETE',
  },
  'delete options with a wrong type': { ...post('{"preconditions":7}', `${maps}/kept`), method: 'DELETE' },
  'delete options with an unknown policy': {
    ...post('{"propagationPolicy":"Sideways"}', `${maps}/kept`),
    method: 'DELETE',
  },
  'delete options with two policies': {
    ...post('{"propagationPolicy":"Orphan","orphanDependents":true}', `${maps}/kept`),
    method: 'DELETE',
  },
  'a DELETE of the collection with a bad selector': {
    method: 'DELETE',
    path: `${maps}?labelSelector=a%20in%20b`,
  },
  'PUT with another name than the path': { ...post(named('other'), `${maps}/kept`), method: 'PUT' },
  'PUT with a stale version': {
    ...post(map('', '"name":"kept","resourceVersion":"1"'), `${maps}/kept`),
    method: 'PUT',
  },
  'PUT with a version that is no number': {
    ...post(map('', '"name":"kept","resourceVersion":"abc"'), `${maps}/kept`),
    method: 'PUT',
  },
  'PUT on the collection': { ...post(map(''), maps), method: 'PUT' },
  'POST on an object': post(map(''), `${maps}/kept`),
  'an unknown method': { method: 'PROPFIND', path: maps },
};
