// Ages as kubectl prints them: `5s`, `3m20s`, `7h`, `2d4h`, `400d`, `2y35d`.

import type { Instant } from '@lapse/base/instant';

export function formatAge(since: Instant, now: Instant): string {
  return formatLength(Math.trunc((now - since) / 1000));
}

/** Seconds in the shortest form with sufficient precision. */
export function formatLength(total: number): string {
  if (total < -1) return '<invalid>';
  if (total < 0) return '0s';
  if (total < 60 * 2) return `${total}s`;
  const minutes = Math.floor(total / 60);
  if (minutes < 10) return two(minutes, 'm', total % 60, 's');
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(hours / 24 / 365);
  if (hours < 24 * 365 * 8) return two(years, 'y', days % 365, 'd');
  return `${years}y`;
}

const two = (a: number, unitA: string, b: number, unitB: string) =>
  b === 0 ? `${a}${unitA}` : `${a}${unitA}${b}${unitB}`;
