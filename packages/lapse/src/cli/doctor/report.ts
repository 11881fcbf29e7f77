// The findings as text and as a structured document.

import type { Finding, Level } from './finding.ts';

export interface Report {
  /** The cluster's name for display. */
  readonly cluster: string;
  readonly server: string;
  readonly findings: readonly Finding[];
}

const WORDS: Readonly<Record<Level, string>> = {
  ok: 'ok',
  note: 'note',
  warning: 'WARNING',
  problem: 'PROBLEM',
};

const count = (findings: readonly Finding[], level: Level): number =>
  findings.filter((finding) => finding.level === level).length;

/** 0: no problems. 1: at least one problem. */
export const exitCodeOf = ({ findings }: Report): number => (count(findings, 'problem') > 0 ? 1 : 0);

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

export function reportText(report: Report, paint: (level: Level, text: string) => string): string {
  const { cluster, server, findings } = report;
  const lines = [`${cluster} (${server})`];
  let check = '';
  for (const finding of findings) {
    if (finding.check !== check) lines.push('', finding.check);
    check = finding.check;
    const word = paint(finding.level, WORDS[finding.level].padEnd(7));
    lines.push(`  ${word}  ${finding.about}: ${finding.message}`);
    if (finding.hint !== undefined) lines.push(`           ${finding.hint}`);
  }
  const sums = `${plural(count(findings, 'problem'), 'problem')}, ${plural(count(findings, 'warning'), 'warning')}`;
  return `${[...lines, '', sums].join('\n')}\n`;
}

/** For scripts (JSON and YAML). */
export function reportDocument({ cluster, server, findings }: Report): object {
  const problems = count(findings, 'problem');
  const warnings = count(findings, 'warning');
  return { cluster, server, problems, warnings, findings };
}
