/** The name of the variable that holds the time of the evaluation. */
export const TIME = 'time';
