// Validation of names, label keys and label values, with the messages of Kubernetes.
// Each check returns a list of errors; an empty list means valid.

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;

const tooLong = (max: number) => `must be no more than ${max} bytes`;

function regexError(message: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((e) => `'${e}', `).join(' or ');
  return examples.length === 0
    ? `${message} (regex used for validation is '${pattern}')`
    : `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const bytes = (text: string) => Buffer.byteLength(text);

export function checkDns1123Label(value: string): string[] {
  const out: string[] = [];
  if (bytes(value) > 63) out.push(tooLong(63));
  if (!LABEL.test(value)) {
    out.push(
      regexError(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
        'my-name',
        '123-abc',
      ),
    );
  }
  return out;
}

export function checkDns1035Label(value: string): string[] {
  const out: string[] = [];
  if (bytes(value) > 63) out.push(tooLong(63));
  if (!LABEL_1035.test(value)) {
    out.push(
      regexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        '[a-z]([-a-z0-9]*[a-z0-9])?',
        'my-name',
        'abc-123',
      ),
    );
  }
  return out;
}

export function checkDns1123Subdomain(value: string): string[] {
  const out: string[] = [];
  if (bytes(value) > 253) out.push(tooLong(253));
  if (!SUBDOMAIN.test(value)) {
    out.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*',
        'example.com',
      ),
    );
  }
  return out;
}

/** Path segments: the rule for names of RBAC objects and a few others. */
export function checkPathSegment(value: string): string[] {
  const out: string[] = [];
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  for (const illegal of ['/', '%']) if (value.includes(illegal)) out.push(`may not contain '${illegal}'`);
  return out;
}

const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

// A cluster has few distinct label keys, and every object carries some.
const qualified = new Set<string>();
const MAX_QUALIFIED = 5000;

/** Keys of labels and annotations, names of conditions and finalizers: `[prefix/]name`. */
export function checkQualifiedName(value: string): string[] {
  if (qualified.has(value)) return [];
  const errors = examineQualifiedName(value);
  if (errors.length === 0) {
    if (qualified.size >= MAX_QUALIFIED) qualified.clear();
    qualified.add(value);
  }
  return errors;
}

function examineQualifiedName(value: string): string[] {
  const out: string[] = [];
  const parts = value.split('/');
  if (parts.length > 2) {
    const text = regexError(QUALIFIED_TEXT, QUALIFIED_PATTERN, 'MyName', 'my.name', '123-abc');
    return [
      `a valid label key ${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') out.push('prefix part must be non-empty');
    else out.push(...checkDns1123Subdomain(prefix).map((c) => `prefix part ${c}`));
  }
  if (name === '') out.push('name part must be non-empty');
  else if (bytes(name) > 63) out.push(`name part ${tooLong(63)}`);
  if (!QUALIFIED.test(name)) {
    out.push(`name part ${regexError(QUALIFIED_TEXT, QUALIFIED_PATTERN, 'MyName', 'my.name', '123-abc')}`);
  }
  return out;
}

export function checkLabelValue(value: string): string[] {
  const out: string[] = [];
  if (bytes(value) > 63) out.push(tooLong(63));
  if (!LABEL_VALUE.test(value)) {
    out.push(
      regexError(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return out;
}

/** Keys of ConfigMap and Secret data. */
export function checkConfigMapKey(value: string): string[] {
  const out: string[] = [];
  if (bytes(value) > 253) out.push(tooLong(253));
  if (!CONFIG_KEY.test(value)) {
    out.push(
      regexError(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  if (value === '.') out.push("must not be '.'");
  else if (value === '..') out.push("must not be '..'");
  else if (value.startsWith('..')) out.push("must not start with '..'");
  return out;
}
