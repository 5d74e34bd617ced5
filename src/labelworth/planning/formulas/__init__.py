"""Plans by formulas: what they say of documents and sequences, at the fit and near it."""
