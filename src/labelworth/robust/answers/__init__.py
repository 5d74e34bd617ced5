"""When an answer's channel is wrong: audits, independence given the class, copies, what is identified, harm."""
