# REML criterion and conditional means of lme4 at given scales, for validation/lme4.py.
#
#   Rscript lme4.R pairs.csv scales.csv > answers.csv
#
# pairs.csv: y, word, connection, attribute. scales.csv: a row for each point; columns ws (spread of attributes), and for
# each connection X csd.X (spread of words) and sigma.X (noise). The model is that of `crossed` with flat means:
# y ~ connection, and effects of words within each connection, and of attributes, all independent. lme4 has one noise
# for all rows; rows of a connection get the weight 1/sigma.X^2. It takes the common factor of all scales to be what the
# data say, so the criterion is that of REML profiled over it, and `factor` is where.
suppressPackageStartupMessages(library(lme4))
arguments <- commandArgs(trailingOnly = TRUE)
pairs <- read.csv(arguments[1], stringsAsFactors = TRUE)
scales <- read.csv(arguments[2], check.names = FALSE)
connections <- levels(pairs$connection)
for (i in seq_along(connections)) pairs[[paste0("d", i)]] <- as.numeric(pairs$connection == connections[i])
words <- paste0("(0 + d", seq_along(connections), " | word)", collapse = " + ")
formula <- as.formula(paste("y ~ 0 + connection +", words, "+ (1 | attribute)"))
out <- NULL
for (k in seq_len(nrow(scales))) {
  sigma <- unlist(scales[k, paste0("sigma.", connections)])
  pairs$weight <- 1 / sigma[as.integer(pairs$connection)]^2
  parts <- lFormula(formula, pairs, weights = weight, REML = TRUE,
                    control = lmerControl(check.nobs.vs.nRE = "ignore", check.nobs.vs.nlev = "ignore"))
  criterion <- do.call(mkLmerDevfun, parts)
  # theta follows the terms as lme4 has sorted them (by their number of levels).
  own <- sapply(parts$reTrms$cnms, identity)
  grouping <- names(parts$reTrms$cnms)
  theta <- numeric(length(own))
  for (j in seq_along(own)) {
    theta[j] <- if (grepl("^attribute", grouping[j])) scales$ws[k]
                else scales[k, paste0("csd.", connections[as.integer(sub("d", "", own[j]))])]
  }
  value <- criterion(theta)
  fit <- mkMerMod(environment(criterion), list(par = theta, fval = value, conv = 0, message = NULL), parts$reTrms, parts$fr)
  means <- fixef(fit)
  errors <- sqrt(diag(as.matrix(vcov(fit)))) / sigma(fit)
  out <- rbind(out, c(point = k, criterion = unname(value), factor = sigma(fit),
                      setNames(means, paste0("mean.", connections)), setNames(errors, paste0("error.", connections))))
}
options(digits = 16)
write.csv(as.data.frame(out), stdout(), row.names = FALSE)
