# What R's package posterior makes of arrays: reads lines "chains draws value value ...", row-major, writes one line of numbers
# for each. make_expected_posterior.py runs it.

suppressPackageStartupMessages(library(posterior))

estimates <- function(x) {
  c(
    rhat(x), ess_bulk(x), ess_tail(x), ess_mean(x), ess_quantile(x, 0.1),
    mcse_mean(x), mcse_sd(x), mcse_quantile(x, 0.75)
  )
}

cat(as.character(packageVersion("posterior")), "\n", sep = "")
input <- file("stdin")
for (line in readLines(input)) {
  numbers <- as.numeric(strsplit(line, " ")[[1]])
  # A matrix of posterior is draws x chains.
  x <- matrix(numbers[-(1:2)], nrow = numbers[2], ncol = numbers[1])
  cat(sprintf("%.17g", suppressWarnings(estimates(x))), "\n")
}
