// Removes from kubectl's output what differs from run to run: ages, uids, versions, times, addresses, generated names.

const RULES: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z| ?[+-]\d{4}\b)/g, 'TIME'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}/g, 'TIME'],
  [/(resourceVersion\\?"?: ?\\?"?)\d+/g, '$1VERSION'],
  [/(Resource Version: +)\d+/g, '$1VERSION'],
  [/https?:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1'],
  [/kubectl-edit-\d+\.yaml/g, 'kubectl-edit.yaml'],
  // The five characters of generateName.
  [/(settings-)[a-z0-9]{5}\b/g, '$1SUFFIX'],
  // A whole object quoted in a message: Go prints its own structs, maps and field order.
  [/Invalid value: ("\{\\".*\}"|\{".*\}|"map\[.*\]"): /g, 'Invalid value: OBJECT: '],
  // The time of day at the start of klog lines.
  [/^([EWI])\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ /gm, '$1 '],
];

// In a table an age is alone between spaces or at the end of a line.
const AGE = /(?<=\s)(?:\d+[ydhms]){1,2}(?=\s|$)/gm;

export function normalise(text: string): string {
  let out = text;
  for (const [pattern, replacement] of RULES) out = out.replace(pattern, replacement);
  // Columns are as wide as their widest cell, which an age can be.
  return out
    .replace(AGE, 'AGE')
    .replace(/ {2,}(?=\S)(?<=\S {2,})/g, '  ')
    .replace(/[ \t]+$/gm, '');
}

/** `explain` without descriptions: headings, fields and types. */
export const withoutProse = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line !== '' && line !== 'DESCRIPTION:' && !/^ {4}(?! *\S+\t)/.test(line))
    .join('\n');
