# Writes glmer.json: maximum likelihood estimates of the model responses_choice for three stereotypes.
# Usage: Rscript glmer.R FOLDER, with a file STEREOTYPE.csv of counts for each (columns chosen, answers, group, word, template, question).
library(lme4)
folder <- commandArgs(trailingOnly = TRUE)[1]
rows <- c()
for (name in c("age", "eating", "weapon")) {
  counts <- read.csv(file.path(folder, paste0(name, ".csv")))
  counts$group <- factor(counts$group, levels = c("opposite", "stereotyped"))
  fit <- glmer(cbind(chosen, answers - chosen) ~ group + (1 | word) + (1 | template) + (1 | group:template) + (1 | question),
               counts, binomial, control = glmerControl(optimizer = "bobyqa"))
  sd <- sqrt(unlist(VarCorr(fit)))
  slope <- summary(fit)$coefficients[2, 1:2]
  rows <- c(rows, sprintf('  "%s": {"contrast": %.4f, "se": %.4f, "word_sd": %.4f, "template_sd": %.4f, "group_by_template_sd": %.4f, "question_sd": %.4f}',
    name, slope[1], slope[2], sd["word"], sd["template"], sd["group:template"], sd["question"]))
}
cat("{\n", paste(rows, collapse = ",\n"), "\n}\n", sep = "")
