"""Our client libraries beside others: callers that each ask for one row and wait."""
