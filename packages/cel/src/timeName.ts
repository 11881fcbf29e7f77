/** The name under which a condition finds the time of its evaluation. */
export const TIME = 'time';
